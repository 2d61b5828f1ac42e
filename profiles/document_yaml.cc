// YAML through yaml-cpp's event parser, so that nesting is bounded before a tree exists, and its lax readings are replaced
// by ours.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/node_builder.h"
#include "profiles/text.h"

namespace kvfit::profiles {
namespace {

class Handler : public YAML::EventHandler {
 public:
  explicit Handler(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  /// The tree; of an empty text a null that still knows its file.
  Node take() { return count_ > 0 ? std::move(root_) : NodeBuilder::make(Node::Kind::null, 1, 1, source_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) fail(mark, "more than one document in one file");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add(mark, start(mark, Node::Kind::null)); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { fail(mark, "YAML aliases (*name) are not supported"); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    if (expects_key()) {
      key(mark, value);
    } else {
      add(mark, scalar(mark, tag, value));
    }
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, Node::Kind::list);
  }
  void OnSequenceEnd() override { shut(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, Node::Kind::map);
  }
  void OnMapEnd() override { shut(); }

  [[noreturn]] void fail(const YAML::Mark& mark, std::string message) const {
    fail_input(std::move(message), place_in(*source_, mark.line + 1, mark.column + 1, ""));
  }

 private:
  struct Level {
    Node node;
    std::set<std::string> keys;
    std::string pending;
    bool has_key = false;
    YAML::Mark mark;
  };

  bool expects_key() const { return !stack_.empty() && stack_.back().node.is_map() && !stack_.back().has_key; }
  void key(const YAML::Mark& mark, const std::string& name) {
    Level& level = stack_.back();
    if (!level.keys.insert(name).second) fail(mark, format("duplicate key '{}'", name));
    level.pending = name;
    level.has_key = true;
  }
  Node start(const YAML::Mark& mark, Node::Kind kind) {
    if (++count_ > kMaxNodes) fail(mark, "too many values in one document");
    return NodeBuilder::make(kind, mark.line + 1, mark.column + 1, source_);
  }
  // "!" marks a quoted scalar, which is always text; "?" a plain one.
  Node scalar(const YAML::Mark& mark, const std::string& tag, const std::string& value) {
    const bool plain = tag == "?";
    if (!plain) check_closed(mark);
    if (plain && (value.empty() || value == "null" || value == "~")) return start(mark, Node::Kind::null);
    if (plain && (value == "true" || value == "false")) {
      Node node = start(mark, Node::Kind::boolean);
      NodeBuilder::set_boolean(node, value == "true", value);
      return node;
    }
    const Scalar number = plain ? read_number(value) : Scalar{};
    Node node = start(mark, number.kind);
    if (number.kind == Node::Kind::integer) {
      NodeBuilder::set_integer(node, number.integer, value);
    } else if (number.kind == Node::Kind::real) {
      NodeBuilder::set_real(node, number.real, value);
    } else {
      NodeBuilder::set_string(node, value);
    }
    return node;
  }
  // The library takes the end of the text for a closing quote.
  void check_closed(const YAML::Mark& mark) const {
    const std::string& text = source_->text;
    std::size_t at = static_cast<std::size_t>(mark.pos);
    if (at >= text.size() || (text[at] != '"' && text[at] != '\'')) return;
    const char quote = text[at];
    for (++at; at < text.size(); ++at) {
      if (quote == '"' && text[at] == '\\') {
        ++at;
      } else if (text[at] == quote) {
        if (quote == '"' || at + 1 == text.size() || text[at + 1] != quote) return;
        ++at;
      }
    }
    fail(mark, "not YAML: a quote is not closed");
  }
  void add(const YAML::Mark& mark, Node node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = stack_.back();
    if (!level.node.is_map()) {
      NodeBuilder::items(level.node).push_back(std::move(node));
      return;
    }
    if (!level.has_key) fail(mark, "a map key must be plain text");
    NodeBuilder::members(level.node).emplace_back(std::move(level.pending), std::move(node));
    level.has_key = false;
  }
  void open(const YAML::Mark& mark, Node::Kind kind) {
    if (static_cast<int>(stack_.size()) >= kMaxDepth)
      fail(mark, format("nested too deeply: more than {} levels", kMaxDepth));
    if (expects_key()) fail(mark, "a list or map stands as a key, or a bracket is not closed");
    stack_.push_back(Level{.node = start(mark, kind), .keys = {}, .pending = {}, .has_key = false, .mark = mark});
  }
  void shut() {
    Level level = std::move(stack_.back());
    stack_.pop_back();
    add(level.mark, std::move(level.node));
  }

  std::shared_ptr<const Source> source_;
  int documents_ = 0;
  std::int64_t count_ = 0;
  Node root_;
  std::vector<Level> stack_;
};

}  // namespace

Node parse_yaml(std::string text, std::string file) {
  const std::shared_ptr<Source> source =
      std::make_shared<Source>(Source{.file = std::move(file), .text = std::move(text), .steps = {}});
  check_text(*source);
  Handler handler(source);
  std::istringstream in(source->text);
  try {
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(handler)) {
    }
  } catch (const YAML::Exception& error) {
    const Where where = place_in(*source, error.mark.line + 1, error.mark.column + 1, "");
    const bool tab = where.excerpt.substr(0, where.excerpt.find_first_not_of(" \t")).find('\t') != std::string::npos;
    fail_input("not YAML: " + error.msg, where, tab ? "YAML is indented with spaces, not with tabs" : "");
  }
  Node root = handler.take();
  NodeBuilder::name_keys(root, *source);
  return root;
}

}  // namespace kvfit::profiles
