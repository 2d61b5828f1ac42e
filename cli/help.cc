#include "cli/help.h"

#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"
#include "cli/terminal.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using profiles::format;

constexpr int kWidth = 79;
constexpr std::size_t kHelpColumn = 31;
constexpr std::string_view kExitStatus =
    "  0  yes: it fits, or the answer was given\n"
    "  1  no: it does not fit, or the headroom is below --margin\n"
    "  2  no answer: usage, bad input, unknown name, verdict unknown\n"
    "  3  refused: this hardware must not run this format\n"
    "  4  the environment failed: disk full, no driver, I/O\n"
    "  70 a bug in kvfit        130 interrupted\n";

std::string usage(const Verb& verb) {
  const bool flagged = verb.name != "help" && verb.name != "version";
  return format("kvfit {}{}{}{}", verb.name, verb.words.empty() ? "" : " ", verb.words, flagged ? " [flags]" : "");
}

std::string spelled(const Flag& flag) {
  std::string out = flag.letter != 0 ? format("-{}, ", flag.letter) : "";
  out += format("--{}", flag.name);
  if (!flag.value.empty()) out += format(" {}", flag.value);
  return out;
}

std::string flag_line(const Flag& flag) {
  std::string out = "  " + spelled(flag);
  if (out.size() + 2 > kHelpColumn) {
    out += "\n" + std::string(kHelpColumn, ' ');
  } else {
    out.resize(kHelpColumn, ' ');
  }
  return out + std::string(flag.help) + "\n";
}

// "tensor-parallel-size -tp" -> "--tensor-parallel-size, -tp"; spellings that imply a value say which.
std::string other_spellings(const Flag& flag) {
  std::string out;
  for (std::string_view rest = flag.aliases; !rest.empty();) {
    const std::size_t blank = rest.find(' ');
    const std::string_view word = rest.substr(0, blank);
    const std::size_t equals = word.find('=');
    if (!out.empty()) out += ", ";
    if (word.front() != '-') out += "--";
    out += word.substr(0, equals);
    if (equals != std::string_view::npos) out += format(" ({})", word.substr(equals + 1));
    rest.remove_prefix(blank == std::string_view::npos ? rest.size() : blank + 1);
  }
  return out;
}

std::string paragraph(std::string_view text, int indent) {
  const std::string pad(static_cast<std::size_t>(indent), ' ');
  return pad + wrap(text, kWidth - indent, 0) + "\n";
}

std::string indented(std::string_view text, int indent) {
  const std::string pad(static_cast<std::size_t>(indent), ' ');
  std::string out = pad;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += pad;
  }
  return out + "\n";
}

// A list too long for one line gets blanks at which it can be broken.
std::string listed(std::string_view choices) {
  std::string out(choices);
  if (out.size() <= 60) return out;
  for (std::size_t at = out.find('|'); at != std::string::npos; at = out.find('|', at)) out.replace(at, 1, ", ");
  return out;
}

std::string flag_entry(const Flag& flag) {
  std::string out = "  " + spelled(flag) + "\n";
  std::string text(flag.help);
  if (!flag.more.empty()) text += format(". {}", flag.more);
  out += indented(wrap(text, kWidth - 6, 0), 6);
  std::vector<std::string> facts;
  if (!flag.choices.empty()) facts.push_back(format("values: {}", listed(flag.choices)));
  if (!flag.fallback.empty()) facts.push_back(format("default: {}", flag.fallback));
  if (!flag.aliases.empty()) facts.push_back(format("also: {}", other_spellings(flag)));
  if (!facts.empty()) out += indented(wrap(format("[{}]", profiles::join(facts, "; ")), kWidth - 6, 0), 6);
  return out;
}

std::vector<std::string_view> groups_of(std::string_view verb) {
  std::vector<std::string_view> out;
  for (const Flag& flag : flags()) {
    if (!belongs(flag, verb)) continue;
    bool known = false;
    for (const std::string_view group : out) known = known || group == flag.group;
    if (!known) out.push_back(flag.group);
  }
  return out;
}

}  // namespace

std::string_view exit_status_text() { return kExitStatus; }

std::string overview() {
  std::string out =
      "kvfit: does this model run on this GPU under vLLM, with what context and how\n"
      "many sequences - and if it does not, what is the least that must be given up?\n"
      "\nExamples\n"
      "  kvfit plan --gpu rtx5090-24g\n"
      "  kvfit plan --gpu h100-sxm --model ./my-checkpoint --max-model-len 32K\n"
      "  kvfit explain --gpu rtx5090-24g kv.available\n"
      "\nCommands\n";
  for (const Verb& verb : verbs()) out += format("  {:<12}{}\n", verb.name, verb.summary);
  return out + "\nkvfit COMMAND -h for its flags in short, kvfit COMMAND --help in full.\n";
}

std::string brief_help(std::string_view name) {
  const Verb* verb = find_verb(name);
  if (verb == nullptr) return overview();
  std::string out = format("{}\n  {}\n", usage(*verb), verb->summary);
  bool more = false;
  for (const std::string_view group : groups_of(name)) {
    std::string lines;
    for (const Flag& flag : flags()) {
      if (!belongs(flag, name) || flag.group != group) continue;
      if (flag.common) lines += flag_line(flag);
      more = more || !flag.common;
    }
    if (!lines.empty()) out += format("\n{}\n{}", group, lines);
  }
  return out + (more ? format("\nkvfit {} --help explains each and lists the rest.\n", name) : "");
}

std::string full_help(std::string_view name) {
  const Verb* verb = find_verb(name);
  if (verb == nullptr) return overview() + "\n" + "Exit status\n" + std::string(kExitStatus);
  std::string out =
      format("{}\n  {}\n\nExamples\n{}", usage(*verb), verb->summary, indented(std::string(verb->examples), 2));
  if (!verb->about.empty()) out += "\n" + paragraph(verb->about, 0);
  for (const std::string_view group : groups_of(name)) {
    out += format("\n{}\n", group);
    for (const Flag& flag : flags()) {
      if (belongs(flag, name) && flag.group == group) out += flag_entry(flag);
    }
  }
  return out + "\n" + "Exit status\n" + std::string(kExitStatus);
}

}  // namespace kvfit::cli
