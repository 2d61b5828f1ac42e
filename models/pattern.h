// Patterns that quantisation lists use for module names: shell globs and the part of Python's regular expressions that
// occurs there. Both run in time bounded by pattern x text, whatever the pattern.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvfit::models {

/// `*` any run of characters, `?` one character; the whole text must match.
bool glob_match(std::string_view pattern, std::string_view text);

/// Literals, . * + ? {m,n} [...] (...) (?:...) | \d \w \s \. ^ $. As re.match: anchored at the start, not at the end.
class Regex {
 public:
  /// Throws Error(Fault::input) saying which character is not understood.
  explicit Regex(std::string_view pattern);
  bool matches(std::string_view text) const;

  struct Node;
  using Sequence = std::vector<Node>;
  struct Node {
    enum class Kind { literal, any, set, group, start, end } kind = Kind::literal;
    char literal = 0;
    bool negated = false;
    std::vector<std::pair<char, char>> ranges;  ///< of a set
    std::vector<Sequence> alternatives;         ///< of a group
    std::size_t least = 1, most = 1;
  };

 private:
  std::vector<Sequence> alternatives_;
  std::string required_;  ///< characters every match holds in a row; most texts are refused by it alone
};

}  // namespace kvfit::models
