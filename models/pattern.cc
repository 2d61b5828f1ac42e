#include "models/pattern.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::fail_input;
using profiles::format;
using Node = Regex::Node;
using Sequence = Regex::Sequence;

constexpr std::size_t kUnbounded = static_cast<std::size_t>(-1);
constexpr int kMaxDepth = 16;

class Parser {
 public:
  explicit Parser(std::string_view pattern) : pattern_(pattern) {}

  std::vector<Sequence> parse() {
    std::vector<Sequence> out = parse_alternatives(0);
    if (at_ != pattern_.size()) refuse("unmatched ')'");
    return out;
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    fail_input(format("cannot use the regular expression '{}': {} at character {}", pattern_, why, at_ + 1));
  }
  bool more() const { return at_ < pattern_.size(); }
  char take() { return pattern_[at_++]; }

  std::vector<Sequence> parse_alternatives(int depth) {
    if (depth > kMaxDepth) refuse("groups are nested too deep");
    std::vector<Sequence> out(1);
    while (more() && pattern_[at_] != ')') {
      if (pattern_[at_] == '|') {
        ++at_;
        out.emplace_back();
        continue;
      }
      Node node = parse_node(depth);
      parse_count(node);
      out.back().push_back(std::move(node));
    }
    return out;
  }

  Node parse_node(int depth) {
    Node node;
    const char c = take();
    switch (c) {
      case '.':
        node.kind = Node::Kind::any;
        return node;
      case '^':
        node.kind = Node::Kind::start;
        return node;
      case '$':
        node.kind = Node::Kind::end;
        return node;
      case '(':
        return parse_group(depth);
      case '[':
        return parse_set();
      case '\\':
        return parse_escape();
      case '*':
      case '+':
      case '?':
        --at_;
        refuse("nothing to repeat");
      default:
        node.literal = c;
        return node;
    }
  }

  Node parse_group(int depth) {
    if (pattern_.substr(at_, 2) == "?:") {
      at_ += 2;
    } else if (more() && pattern_[at_] == '?') {
      refuse("look-around and named groups are not supported");
    }
    Node node;
    node.kind = Node::Kind::group;
    node.alternatives = parse_alternatives(depth + 1);
    if (!more()) refuse("missing ')'");
    ++at_;
    return node;
  }

  static void add_class(char c, Node& node) {
    if (c == 'd') node.ranges = {{'0', '9'}};
    if (c == 'w') node.ranges = {{'0', '9'}, {'a', 'z'}, {'A', 'Z'}, {'_', '_'}};
    if (c == 's') node.ranges = {{' ', ' '}, {'\t', '\r'}};
  }

  Node parse_escape() {
    if (!more()) refuse("a backslash ends the pattern");
    const char c = take();
    Node node;
    if (c == 'd' || c == 'w' || c == 's') {
      node.kind = Node::Kind::set;
      add_class(c, node);
    } else if (std::isalnum(static_cast<unsigned char>(c))) {
      --at_;
      refuse("unsupported escape");
    } else {
      node.literal = c;
    }
    return node;
  }

  Node parse_set() {
    Node node;
    node.kind = Node::Kind::set;
    if (more() && pattern_[at_] == '^') {
      node.negated = true;
      ++at_;
    }
    for (bool first = true; more() && (pattern_[at_] != ']' || first); first = false) {
      char low = take();
      if (low == '\\' && more()) {
        low = take();
        if (low == 'd' || low == 'w' || low == 's') {
          Node inner;
          add_class(low, inner);
          node.ranges.insert(node.ranges.end(), inner.ranges.begin(), inner.ranges.end());
          continue;
        }
      }
      char high = low;
      if (at_ + 1 < pattern_.size() && pattern_[at_] == '-' && pattern_[at_ + 1] != ']') {
        ++at_;
        high = take();
      }
      node.ranges.emplace_back(low, high);
    }
    if (!more()) refuse("missing ']'");
    ++at_;
    return node;
  }

  void parse_count(Node& node) {
    if (!more()) return;
    const char c = pattern_[at_];
    if (c == '*' || c == '+' || c == '?') {
      node.least = c == '+' ? 1 : 0;
      node.most = c == '?' ? 1 : kUnbounded;
      ++at_;
    } else if (c == '{') {
      ++at_;
      node.least = parse_number();
      node.most = node.least;
      if (more() && pattern_[at_] == ',') {
        ++at_;
        node.most = more() && pattern_[at_] == '}' ? kUnbounded : parse_number();
      }
      if (!more() || take() != '}' || node.most < node.least) refuse("malformed {m,n}");
    }
    if (more() && pattern_[at_] == '?' && (c == '*' || c == '+' || c == '?' || c == '{')) ++at_;  // lazy: same language
  }

  std::size_t parse_number() {
    std::size_t value = 0;
    if (!more() || !std::isdigit(static_cast<unsigned char>(pattern_[at_]))) refuse("malformed {m,n}");
    while (more() && std::isdigit(static_cast<unsigned char>(pattern_[at_]))) {
      value = value * 10 + static_cast<std::size_t>(take() - '0');
      if (value > 1000) refuse("a repeat count above 1000");
    }
    return value;
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
};

// The set of places in the text that can be reached; index = characters consumed.
using Places = std::vector<bool>;

bool accepts(const Node& node, char c) {
  if (node.kind == Node::Kind::any) return true;
  if (node.kind == Node::Kind::literal) return c == node.literal;
  const bool inside = std::any_of(node.ranges.begin(), node.ranges.end(),
                                  [c](const std::pair<char, char>& r) { return c >= r.first && c <= r.second; });
  return inside != node.negated;
}

Places run(const std::vector<Sequence>& alternatives, const Places& from, std::string_view text);

Places step(const Node& node, const Places& from, std::string_view text) {
  if (node.kind == Node::Kind::group) return run(node.alternatives, from, text);
  Places to(from.size(), false);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!from[i]) continue;
    if (node.kind == Node::Kind::start) {
      if (i == 0) to[i] = true;
    } else if (node.kind == Node::Kind::end) {
      if (i == text.size()) to[i] = true;
    } else if (i < text.size() && accepts(node, text[i])) {
      to[i + 1] = true;
    }
  }
  return to;
}

void add(Places& to, const Places& from) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (from[i]) to[i] = true;
  }
}

// One character any number of times: a sweep.
Places sweep(const Node& node, Places places, std::string_view text) {
  if (node.least == 1) places = step(node, places, text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (places[i] && accepts(node, text[i])) places[i + 1] = true;
  }
  return places;
}

Places repeat(const Node& node, Places places, std::string_view text) {
  const bool single = node.kind == Node::Kind::any || node.kind == Node::Kind::literal || node.kind == Node::Kind::set;
  if (single && node.least <= 1 && node.most == kUnbounded) return sweep(node, std::move(places), text);
  Places reached(places.size(), false);
  if (node.least == 0) add(reached, places);
  // After text.size() + 1 rounds nothing new can be reached.
  const std::size_t rounds = std::min(node.most, node.least + text.size() + 1);
  for (std::size_t round = 1; round <= rounds; ++round) {
    places = step(node, places, text);
    if (std::find(places.begin(), places.end(), true) == places.end()) break;
    if (round >= node.least) add(reached, places);
  }
  return reached;
}

Places run(const std::vector<Sequence>& alternatives, const Places& from, std::string_view text) {
  Places out(from.size(), false);
  for (const Sequence& sequence : alternatives) {
    Places places = from;
    for (const Node& node : sequence) {
      places = node.least == 1 && node.most == 1 ? step(node, places, text) : repeat(node, places, text);
    }
    add(out, places);
  }
  return out;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Regex::Regex(std::string_view pattern) : alternatives_(Parser(pattern).parse()) {
  if (alternatives_.size() != 1) return;
  std::string run;
  for (const Node& node : alternatives_.front()) {
    const bool certain = node.kind == Node::Kind::literal && node.least == 1 && node.most == 1;
    run = certain ? run + node.literal : "";
    if (run.size() > required_.size()) required_ = run;
  }
}

bool Regex::matches(std::string_view text) const {
  if (text.find(required_) == std::string_view::npos) return false;
  Places start(text.size() + 1, false);
  start[0] = true;
  const Places end = run(alternatives_, start, text);
  return std::find(end.begin(), end.end(), true) != end.end();
}

}  // namespace kvfit::models
