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

// Where an unquoted value's field ends: the next blank, where `command` not one inside $(...) or `...`, whose output nobody
// knows here.
inline std::size_t field_end(std::string_view text, bool command, std::size_t i) {
  int depth = 0;
  bool quoted = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (command && c == '`') quoted = !quoted;
    if (command && (c == '(' || c == ')')) depth += c == '(' ? 1 : -1;
    if (depth <= 0 && !quoted && (blank(c) || c == '\n')) break;
  }
  return i;
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
