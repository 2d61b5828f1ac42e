// Characters and words that have a meaning to a POSIX shell; for shell_words.cc.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace kvfit::runtime::shell_grammar {

inline bool name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
inline bool name_rest(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
inline bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool ends_word(char c) { return blank(c) || std::string_view("\n;&|()<>").find(c) != std::string_view::npos; }

inline std::size_t name_length(std::string_view text) {
  if (text.empty() || !name_start(text.front())) return 0;
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), name_rest) - text.begin());
}

// Words that stand before a command and leave it a command.
inline bool is_prefix(std::string_view word) {
  constexpr std::string_view kPrefixes[] = {"if",   "then", "else",  "elif",    "do", "while", "until", "!",     "{",
                                            "time", "exec", "nohup", "command", "fi", "done",  "}",     "setsid"};
  return std::find(std::begin(kPrefixes), std::end(kPrefixes), word) != std::end(kPrefixes);
}

/// Commands whose words may be assignments.
inline bool is_declaration(std::string_view word) {
  return word == "export" || word == "declare" || word == "typeset" || word == "local" || word == "readonly";
}

}  // namespace kvfit::runtime::shell_grammar
