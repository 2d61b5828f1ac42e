#include "cli/completions.h"

#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"
#include "profiles/spelling.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using profiles::format;

std::vector<std::string> ids(const profiles::Catalog& catalog, std::string_view kind) {
  std::vector<std::string> out;
  for (const profiles::ProfileFile& file : catalog.list(kind)) out.push_back(file.id);
  return out;
}

// What a flag's value may be: listed choices, ids of the catalogue, a file; empty words and no file for the rest.
struct Values {
  std::vector<std::string> words;
  bool file = false;
};

Values values_of(const Flag& flag, const profiles::Catalog& catalog) {
  if (flag.type == FlagType::choice) return {profiles::split(flag.choices, '|'), false};
  if (flag.name == "gpu") return {ids(catalog, "hardware"), true};
  if (flag.name == "model") return {ids(catalog, "models"), true};
  if (flag.name == "engine") return {ids(catalog, "engines"), false};
  const bool file = flag.value.find("FILE") != std::string_view::npos || flag.value == "DIR" || flag.value == "PATH";
  return {{}, file};
}

// Words that may follow a verb: "[list | show ID | lint]" -> list show lint.
std::vector<std::string> subwords(const Verb& verb) {
  if (verb.name == "help" || verb.name == "man") {
    std::vector<std::string> out;
    for (const Verb& other : verbs()) out.emplace_back(other.name);
    return out;
  }
  std::vector<std::string> out;
  std::string word;
  for (const char c : std::string(verb.words) + " ") {
    if (c >= 'a' && c <= 'z') {
      word += c;
    } else {
      if (word.size() > 2 && (c == ' ' || c == ']' || c == '|')) out.push_back(word);
      word.clear();
    }
  }
  return out;
}

std::vector<std::string> spelled(const Flag& flag) {
  std::vector<std::string> out = {"--" + std::string(flag.name)};
  if (flag.letter != 0) out.push_back(format("-{}", flag.letter));
  if (flag.type == FlagType::toggle && flag.verbs != "*") out.push_back("--no-" + std::string(flag.name));
  return out;
}

std::string bash(const profiles::Catalog& catalog) {
  std::string out =
      "# kvfit completions bash > /etc/bash_completion.d/kvfit\n"
      "_kvfit() {\n"
      "  local word previous verb='' i\n"
      "  COMPREPLY=()\n"
      "  word=${COMP_WORDS[COMP_CWORD]}\n"
      "  previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case ${COMP_WORDS[i]} in -*) ;; *) verb=${COMP_WORDS[i]}; break ;; esac\n"
      "  done\n"
      "  case $verb:$previous in\n";
  for (const Verb& verb : verbs()) {
    for (const Flag& flag : flags()) {
      if (!belongs(flag, verb.name) || flag.type == FlagType::toggle) continue;
      std::string pattern = format("    {}:--{}", verb.name, flag.name);
      if (flag.letter != 0) pattern += format(" | {}:-{}", verb.name, flag.letter);
      const Values values = values_of(flag, catalog);
      out += format("{}) mapfile -t COMPREPLY < <(compgen {}{}-- \"$word\"); return ;;\n", pattern,
                    values.words.empty() ? "" : format("-W \"{}\" ", profiles::join(values.words, " ")),
                    values.file || values.words.empty() ? "-f " : "");
    }
  }
  out += "  esac\n  case $verb in\n";
  for (const Verb& verb : verbs()) {
    std::vector<std::string> words = subwords(verb);
    for (const Flag& flag : flags()) {
      if (!belongs(flag, verb.name)) continue;
      for (std::string& spelling : spelled(flag)) words.push_back(std::move(spelling));
    }
    out += format("    {}) mapfile -t COMPREPLY < <(compgen -W \"{}\" -- \"$word\") ;;\n", verb.name,
                  profiles::join(words, " "));
  }
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) names.emplace_back(verb.name);
  out += format("    *) mapfile -t COMPREPLY < <(compgen -W \"{} --help --version\" -- \"$word\") ;;\n",
                profiles::join(names, " "));
  return out + "  esac\n}\ncomplete -o default -F _kvfit kvfit\n";
}

// Text inside '...[...]' of _arguments.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out;
}

std::string zsh_flag(const Flag& flag, const profiles::Catalog& catalog) {
  std::string out;
  for (const std::string& spelling : spelled(flag)) {
    out += format(" \\\n        '{}{}[{}]", flag.repeats ? "*" : "", spelling, zsh_text(flag.help));
    if (flag.type != FlagType::toggle) {
      const Values values = values_of(flag, catalog);
      out += format(":{}:", zsh_text(flag.value));
      if (!values.words.empty()) out += format("({})", profiles::join(values.words, " "));
      if (values.words.empty() && values.file) out += "_files";
    }
    out += "'";
  }
  return out;
}

std::string zsh(const profiles::Catalog& catalog) {
  std::string out =
      "#compdef kvfit\n"
      "# kvfit completions zsh > \"${fpath[1]}/_kvfit\"\n"
      "_kvfit() {\n"
      "  local -a verbs\n"
      "  verbs=(";
  for (const Verb& verb : verbs()) out += format("\n    '{}:{}'", verb.name, zsh_text(verb.summary));
  out +=
      "\n  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe -t commands 'kvfit command' verbs\n"
      "    return\n"
      "  fi\n"
      "  local verb=${words[2]}\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $verb in\n";
  for (const Verb& verb : verbs()) {
    out += format("    {})\n      _arguments", verb.name);
    for (const Flag& flag : flags()) {
      if (belongs(flag, verb.name)) out += zsh_flag(flag, catalog);
    }
    const std::vector<std::string> words = subwords(verb);
    out += words.empty() ? " \\\n        '*:file:_files'" : format(" \\\n        '1:what:({})'", profiles::join(words, " "));
    if (!words.empty()) out += " \\\n        '*:file:_files'";
    out += "\n      ;;\n";
  }
  return out + "  esac\n}\n_kvfit \"$@\"\n";
}

std::string fish_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string fish(const profiles::Catalog& catalog) {
  std::string out = "# kvfit completions fish > ~/.config/fish/completions/kvfit.fish\ncomplete -c kvfit -f\n";
  for (const Verb& verb : verbs()) {
    out += format("complete -c kvfit -n __fish_use_subcommand -a {} -d '{}'\n", verb.name, fish_text(verb.summary));
  }
  for (const Verb& verb : verbs()) {
    const std::string when = format("complete -c kvfit -n '__fish_seen_subcommand_from {}'", verb.name);
    const std::vector<std::string> words = subwords(verb);
    if (!words.empty()) out += format("{} -a '{}'\n", when, profiles::join(words, " "));
    for (const Flag& flag : flags()) {
      if (!belongs(flag, verb.name)) continue;
      out += format("{} -l {}", when, flag.name);
      if (flag.letter != 0) out += format(" -s {}", flag.letter);
      if (flag.type != FlagType::toggle) {
        const Values values = values_of(flag, catalog);
        out += values.file ? " -r -F" : " -x";
        if (!values.words.empty()) out += format(" -a '{}'", profiles::join(values.words, " "));
      }
      out += format(" -d '{}'\n", fish_text(flag.help));
    }
  }
  return out;
}

}  // namespace

std::string completion_script(std::string_view shell, const profiles::Catalog& catalog) {
  if (shell == "zsh") return zsh(catalog);
  return shell == "fish" ? fish(catalog) : bash(catalog);
}

}  // namespace kvfit::cli
