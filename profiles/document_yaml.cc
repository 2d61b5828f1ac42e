// YAML through yaml-cpp's event parser, so that nesting is bounded before a tree exists, and its lax readings are replaced
// by ours.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/node_builder.h"
#include "profiles/text.h"

namespace kvfit::profiles {
namespace {

// What a text may hold: one strict document, or a stream as other programs read it.
struct Reading {
  bool stream = false;
  std::int64_t most = kMaxNodes;
};

std::int64_t values_in(const Node& node) {
  std::int64_t out = 1;
  for (const Node& item : NodeBuilder::items(node)) out += values_in(item);
  for (const auto& [key, value] : NodeBuilder::members(node)) out += values_in(value);
  return out;
}

// "<<: *defaults" and "<<: [*a, *b]": keys that the map itself lacks.
void merge(Node& map) {
  std::vector<std::pair<std::string, Node>>& members = NodeBuilder::members(map);
  const auto at = std::find_if(members.begin(), members.end(), [](const auto& member) { return member.first == "<<"; });
  if (at == members.end()) return;
  const Node merged = std::move(at->second);
  members.erase(at);
  const auto take = [&members](const Node& from) {
    if (!from.is_map()) from.fail("only a map can be merged with <<");
    for (const auto& [key, value] : NodeBuilder::members(from)) {
      const bool own =
          std::any_of(members.begin(), members.end(), [&key](const auto& member) { return member.first == key; });
      if (!own) members.emplace_back(key, value);
    }
  };
  if (!merged.is_list()) return take(merged);
  for (const Node& one : NodeBuilder::items(merged)) take(one);
}

class Handler : public YAML::EventHandler {
 public:
  Handler(std::shared_ptr<const Source> source, Reading reading) : source_(std::move(source)), reading_(reading) {}

  /// The trees; of an empty text one null that still knows its file.
  std::vector<Node> take() {
    if (documents_.empty()) documents_.push_back(NodeBuilder::make(Node::Kind::null, 1, 1, source_));
    return std::move(documents_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (!reading_.stream && started_) fail(mark, "more than one document in one file");
    started_ = true;
    anchors_.clear();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(mark, anchor, start(mark, Node::Kind::null)); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!reading_.stream) fail(mark, "YAML aliases (*name) are not supported");
    const std::map<YAML::anchor_t, Node>::const_iterator known = anchors_.find(anchor);
    if (known == anchors_.end()) fail(mark, "an alias stands inside what it names");
    if (expects_key()) return key(mark, known->second.scalar_text());
    count_ += values_in(known->second);
    if (count_ > reading_.most) fail(mark, "too many values in one document");
    add(mark, 0, known->second);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    if (expects_key()) {
      key(mark, value);
    } else {
      add(mark, anchor, scalar(mark, tag, value));
    }
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, Node::Kind::list);
  }
  void OnSequenceEnd() override { shut(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(mark, anchor, Node::Kind::map);
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
    YAML::anchor_t anchor = 0;
  };

  bool expects_key() const { return !stack_.empty() && stack_.back().node.is_map() && !stack_.back().has_key; }
  void key(const YAML::Mark& mark, const std::string& name) {
    Level& level = stack_.back();
    if (!level.keys.insert(name).second) fail(mark, format("duplicate key '{}'", name));
    level.pending = name;
    level.has_key = true;
  }
  Node start(const YAML::Mark& mark, Node::Kind kind) {
    if (++count_ > reading_.most) fail(mark, "too many values in one document");
    return NodeBuilder::make(kind, mark.line + 1, mark.column + 1, source_);
  }
  // "!" marks a quoted scalar, which is always text; "?" a plain one.
  Node scalar(const YAML::Mark& mark, const std::string& tag, const std::string& value) {
    const bool plain = tag == "?";
    if (!plain) check_closed(mark);
    if (plain && (value.empty() || value == "null" || value == "~")) return start(mark, Node::Kind::null);
    if (plain && (value == "true" || value == "false")) return boolean(mark, value == "true", value);
    if (plain && reading_.stream) {
      for (const std::string_view word : {"True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"}) {
        if (value == word) return boolean(mark, true, value);
      }
      for (const std::string_view word : {"False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"}) {
        if (value == word) return boolean(mark, false, value);
      }
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
  Node boolean(const YAML::Mark& mark, bool value, const std::string& text) {
    Node node = start(mark, Node::Kind::boolean);
    NodeBuilder::set_boolean(node, value, text);
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
  void add(const YAML::Mark& mark, YAML::anchor_t anchor, Node node) {
    if (anchor != 0 && reading_.stream) anchors_[anchor] = node;
    if (stack_.empty()) {
      documents_.push_back(std::move(node));
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
  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
    if (static_cast<int>(stack_.size()) >= kMaxDepth)
      fail(mark, format("nested too deeply: more than {} levels", kMaxDepth));
    if (expects_key()) fail(mark, "a list or map stands as a key, or a bracket is not closed");
    stack_.push_back(
        Level{.node = start(mark, kind), .keys = {}, .pending = {}, .has_key = false, .mark = mark, .anchor = anchor});
  }
  void shut() {
    Level level = std::move(stack_.back());
    stack_.pop_back();
    if (reading_.stream && level.node.is_map()) merge(level.node);
    add(level.mark, level.anchor, std::move(level.node));
  }

  std::shared_ptr<const Source> source_;
  Reading reading_;
  bool started_ = false;
  std::int64_t count_ = 0;
  std::vector<Node> documents_;
  std::vector<Level> stack_;
  std::map<YAML::anchor_t, Node> anchors_;
};

std::vector<Node> read(std::string text, std::string file, Reading reading) {
  const std::shared_ptr<Source> source =
      std::make_shared<Source>(Source{.file = std::move(file), .text = std::move(text), .steps = {}});
  check_text(*source);
  Handler handler(source, reading);
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
  std::vector<Node> out = handler.take();
  for (Node& root : out) NodeBuilder::name_keys(root, *source);
  return out;
}

}  // namespace

Node parse_yaml(std::string text, std::string file) { return std::move(read(std::move(text), std::move(file), {}).front()); }

std::vector<Node> parse_yaml_stream(std::string text, std::string file, std::int64_t most) {
  return read(std::move(text), std::move(file), {.stream = true, .most = most});
}

}  // namespace kvfit::profiles
