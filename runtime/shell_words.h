// A POSIX shell script as far as a reader of deployments needs it: simple commands with their words and assignments, quotes
// and continuations taken away, variables put in where the same text sets them plainly (NAME=value, export, arrays, and
// ${NAME:-default}). No branch is judged: every command is listed in order, assignments hold from where they stand.
//
// What cannot be known (a variable nothing sets, $(...), $1) leaves the word as written and marks it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/error.h"
#include "runtime/text_places.h"

namespace kvfit::runtime {

struct Word {
  std::string text;
  profiles::Where where;
  bool whole = true;     ///< false: holds something that only the shell at run time knows
  bool command = false;  ///< then: what a command prints, not a variable
};

struct ShellCommand {
  std::vector<std::pair<std::string, Word>> assignments;  ///< NAME=value before the words, or after `export`
  std::vector<Word> words;
};

/// A word with an open part is open.
inline void add_open(Word& out, const Word& part) {
  out.whole = out.whole && part.whole;
  out.command = out.command || part.command;
}

/// Variables by name; an array is a list of words, and "@" holds the script's own arguments.
using ShellVariables = std::map<std::string, std::vector<Word>, std::less<>>;

/// Throws Error with place when a quote or bracket is not closed, or when variables grow a word beyond 64 KiB.
/// `known` holds variables set outside and receives those set here.
std::vector<ShellCommand> read_shell(const TextPlaces& places, ShellVariables& known);

/// The same for a shell text that stands inside another file (a block scalar, a quoted string): words get the place of their
/// text in that file at or after `from`.
std::vector<ShellCommand> read_shell_inside(std::string_view shell, const TextPlaces& places, const profiles::Where& from,
                                            ShellVariables& known);

}  // namespace kvfit::runtime
