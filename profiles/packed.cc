#include "profiles/packed.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "profiles/node_builder.h"

namespace kvfit::profiles {
namespace {

// Seven bits a byte, low first.
void put_number(std::string& out, std::uint64_t n) {
  while (n >= 0x80) {
    out += static_cast<char>(0x80 | (n & 0x7f));
    n >>= 7;
  }
  out += static_cast<char>(n);
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

void put_node(std::string& out, const Node& node) {
  const Where where = node.where();
  put_number(out, static_cast<std::uint64_t>(node.kind()));
  put_number(out, static_cast<std::uint64_t>(where.line));
  put_number(out, static_cast<std::uint64_t>(where.column));
  if (node.is_map()) {
    put_number(out, node.members().size());
    for (const auto& [key, value] : node.members()) {
      put_text(out, key);
      put_node(out, value);
    }
  } else if (node.is_list()) {
    put_number(out, node.list().size());
    for (const Node& item : node.list()) put_node(out, item);
  } else {
    put_text(out, node.scalar_text());
  }
}

class Reader {
 public:
  Reader(std::string_view bytes, std::shared_ptr<const Source> source) : bytes_(bytes), source_(std::move(source)) {}

  Node node() {
    const Node::Kind kind = static_cast<Node::Kind>(number());
    const int line = static_cast<int>(number());
    const int column = static_cast<int>(number());
    Node out = NodeBuilder::make(kind, line, column, source_);
    if (kind == Node::Kind::map) {
      const std::size_t count = number();
      NodeBuilder::members(out).reserve(count);
      for (std::size_t i = 0; i < count; ++i) {
        std::string key(text());
        NodeBuilder::members(out).emplace_back(std::move(key), node());
      }
    } else if (kind == Node::Kind::list) {
      const std::size_t count = number();
      NodeBuilder::items(out).reserve(count);
      for (std::size_t i = 0; i < count; ++i) NodeBuilder::items(out).push_back(node());
    } else {
      fill(out, kind, std::string(text()));
    }
    return out;
  }

 private:
  std::size_t number() {
    std::uint64_t out = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      if (bytes_.empty()) break;
      const unsigned char byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return static_cast<std::size_t>(out);
    }
    throw std::logic_error("a compiled-in profile is cut short");
  }
  std::string_view text() {
    const std::size_t length = number();
    if (length > bytes_.size()) throw std::logic_error("a compiled-in profile is cut short");
    const std::string_view out = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return out;
  }
  static void fill(Node& node, Node::Kind kind, std::string value) {
    if (kind == Node::Kind::boolean) {
      NodeBuilder::set_boolean(node, value == "true", value);
    } else if (kind == Node::Kind::integer) {
      NodeBuilder::set_integer(node, read_number(value).integer, value);
    } else if (kind == Node::Kind::real) {
      NodeBuilder::set_real(node, read_number(value).real, value);
    } else {
      NodeBuilder::set_string(node, std::move(value));
    }
  }

  std::string_view bytes_;
  std::shared_ptr<const Source> source_;
};

}  // namespace

std::string pack(const Node& root) {
  std::string out;
  put_node(out, root);
  return out;
}

Node unpack(std::string_view packed, std::string file) {
  const std::shared_ptr<Source> source = std::make_shared<Source>(Source{.file = std::move(file), .text = {}, .steps = {}});
  Node root = Reader(packed, source).node();
  NodeBuilder::name_keys(root, *source);
  return root;
}

}  // namespace kvfit::profiles
