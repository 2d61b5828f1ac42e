// The one table of verbs and flags. The parser, -h, --help, man pages and completions all read it; nothing else names a
// flag's spelling, type or default.
#pragma once

#include <span>
#include <string_view>

namespace kvfit::cli {

enum class FlagType {
  toggle,  ///< no value; `--no-NAME` says the opposite
  text,
  choice,   ///< one of `choices`, separated by '|'
  integer,  ///< within low..high
  number,   ///< within low..high
  tokens,   ///< count with suffix as vLLM reads it: 32k = 32,000, 32K = 32,768; "auto"
  size,     ///< bytes: "1.5GiB", "512MiB", "2GB", plain bytes
};

struct Flag {
  std::string_view verbs;  ///< separated by blanks; "*" = all
  std::string_view name;   ///< without dashes
  char letter = 0;         ///< 0 = none
  FlagType type = FlagType::toggle;
  std::string_view value;    ///< name of the value in help, e.g. "TOKENS"
  std::string_view choices;  ///< FlagType::choice
  double low = 0, high = 0;
  std::string_view aliases;   ///< other spellings, separated by blanks; "NAME=VALUE" stands for a value; "-tp" for one dash
  std::string_view fallback;  ///< what holds when the flag is absent, for help
  std::string_view group;     ///< heading in help
  bool common = true;         ///< shown by -h too
  bool repeats = false;       ///< may be given several times
  std::string_view help;      ///< one line
  std::string_view more;      ///< what --help adds
  std::string_view since = "0.1";
};

struct Verb {
  std::string_view name;
  std::string_view words;     ///< what may follow, for usage: "[list | show ID | lint]"
  std::string_view summary;   ///< one line
  std::string_view about;     ///< paragraph for --help
  std::string_view examples;  ///< one a line
};

std::span<const Flag> flags();
std::span<const Verb> verbs();

bool belongs(const Flag& flag, std::string_view verb);
const Verb* find_verb(std::string_view name);

}  // namespace kvfit::cli
