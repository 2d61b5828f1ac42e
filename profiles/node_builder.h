// For the two readers only (document_json.cc, document_yaml.cc): fills the private parts of Node and keeps a document
// bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/document.h"

namespace kvfit::profiles {

/// Limits of any document: deeper or larger input is hostile, not a configuration.
inline constexpr int kMaxDepth = 64;
inline constexpr std::int64_t kMaxNodes = 4'000'000;

struct NodeBuilder {
  static Node make(Node::Kind kind, int line, int column, std::shared_ptr<const Source> source) {
    Node node;
    node.kind_ = kind;
    node.line_ = line;
    node.column_ = column;
    node.source_ = std::move(source);
    return node;
  }
  static void set_boolean(Node& node, bool value, std::string text) {
    node.boolean_ = value;
    node.text_ = std::move(text);
  }
  static void set_integer(Node& node, std::int64_t value, std::string text) {
    node.integer_ = value;
    node.real_ = static_cast<double>(value);
    node.text_ = std::move(text);
  }
  static void set_real(Node& node, double value, std::string text) {
    node.real_ = value;
    node.text_ = std::move(text);
  }
  static void set_string(Node& node, std::string text) { node.text_ = std::move(text); }
  static std::vector<Node>& items(Node& node) { return node.items_; }
  static const std::vector<Node>& items(const Node& node) { return node.items_; }
  static std::vector<std::pair<std::string, Node>>& members(Node& node) { return node.members_; }
  static const std::vector<std::pair<std::string, Node>>& members(const Node& node) { return node.members_; }
  /// Numbers every value below `root` and notes in its `source` how it is reached, once the tree is whole.
  static void name_keys(Node& root, Source& source, int above = -1, std::size_t index = 0, std::string_view key = {});
};

/// A place in `source`, with the line's text for the caret.
Where place_in(const Source& source, int line, int column, std::string key);

/// Refuses what is not UTF-8 text: malformed bytes, and control characters other than tab and the ends of lines.
void check_text(const Source& source);

/// A plain scalar by the rules both formats share: integers, reals (no NaN, no infinity) and words; nullopt-like result is a
/// string.
struct Scalar {
  Node::Kind kind = Node::Kind::string;
  std::int64_t integer = 0;
  double real = 0;
};
Scalar read_number(std::string_view text);

}  // namespace kvfit::profiles
