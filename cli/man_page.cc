// Manual pages in roff (man macros), from the same tables as --help.
#include <string>
#include <string_view>
#include <vector>

#include "cli/completions.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/version.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using profiles::format;

// A backslash, a dash and a dot or quote at the beginning of a line mean something to roff.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool begins = out.empty() || out.back() == '\n';
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

std::string title(const std::string& name, std::string_view summary) {
  return format(".TH {} 1 \"\" \"kvfit {}\" \"kvfit manual\"\n.ad l\n.SH NAME\n{} \\- {}\n", roff(upper(name)),
                version_number(), roff(name), roff(summary));
}

std::string flag_entry(const Flag& flag) {
  std::string out = ".TP\n";
  if (flag.letter != 0) out += format("\\fB\\-{}\\fR, ", flag.letter);
  out += format("\\fB\\-\\-{}\\fR", roff(flag.name));
  if (!flag.value.empty()) out += format(" \\fI{}\\fR", roff(flag.value));
  out += "\n" + roff(flag.help) + ".\n";
  if (!flag.more.empty()) out += roff(flag.more) + "\n";
  if (!flag.choices.empty()) out += format("Values: {}.\n", roff(format("{}", flag.choices)));
  if (!flag.fallback.empty()) out += format("Default: {}.\n", roff(flag.fallback));
  return out;
}

std::vector<std::string_view> groups(std::string_view verb) {
  std::vector<std::string_view> out;
  for (const Flag& flag : flags()) {
    bool known = !belongs(flag, verb);
    for (const std::string_view group : out) known = known || group == flag.group;
    if (!known) out.push_back(flag.group);
  }
  return out;
}

std::string examples(std::string_view text) {
  return text.empty() ? "" : format(".SH EXAMPLES\n.nf\n{}\n.fi\n", roff(text));
}

std::string exit_section() { return format(".SH EXIT STATUS\n.nf\n{}.fi\n", roff(exit_status_text())); }

std::string verb_page(const Verb& verb) {
  std::string out = title("kvfit-" + std::string(verb.name), verb.summary);
  out += format(".SH SYNOPSIS\n\\fBkvfit {}\\fR {} [\\fIflags\\fR]\n", verb.name, roff(verb.words));
  if (!verb.about.empty()) out += format(".SH DESCRIPTION\n{}\n", roff(verb.about));
  out += ".SH OPTIONS\n";
  for (const std::string_view group : groups(verb.name)) {
    out += format(".SS {}\n", roff(group));
    for (const Flag& flag : flags()) {
      if (belongs(flag, verb.name) && flag.group == group) out += flag_entry(flag);
    }
  }
  return out + examples(verb.examples) + exit_section() + ".SH SEE ALSO\n.BR kvfit (1)\n";
}

std::string main_page() {
  std::string out = title("kvfit", "does this model run on this GPU under vLLM");
  out +=
      ".SH SYNOPSIS\n\\fBkvfit\\fR \\fIcommand\\fR [\\fIflags\\fR]\n.SH DESCRIPTION\n"
      "Says with what context and how many sequences a model runs on a GPU under vLLM, and if it does not, what is the\n"
      "least that must be given up. Needs no GPU and downloads nothing.\n.SH COMMANDS\n";
  for (const Verb& verb : verbs()) out += format(".TP\n\\fB{}\\fR\n{}.\n", verb.name, roff(verb.summary));
  out += exit_section();
  out +=
      ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR, \\fBFORCE_COLOR\\fR, \\fBCLICOLOR\\fR, \\fBCLICOLOR_FORCE\\fR\n"
      "Whether output is coloured; \\-\\-color beats them.\n"
      ".TP\n\\fBXDG_CONFIG_HOME\\fR\nkvfit/profiles below it holds profiles of your own.\n"
      ".TP\n\\fBHF_HUB_CACHE\\fR, \\fBHF_HOME\\fR\nWhere models that were downloaded before are found.\n";
  out += ".SH SEE ALSO\n";
  std::string pages;
  for (const Verb& verb : verbs()) {
    if (verb.name != "help" && verb.name != "version")
      pages += format("{}.BR kvfit\\-{} (1)", pages.empty() ? "" : " ,\n", verb.name);
  }
  return out + pages + "\n";
}

}  // namespace

std::string man_page(std::string_view name) {
  const Verb* verb = find_verb(name);
  return verb == nullptr ? main_page() : verb_page(*verb);
}

}  // namespace kvfit::cli
