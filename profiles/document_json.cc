// JSON through nlohmann's SAX parser, fed by an iterator that counts bytes, so that every value keeps its place.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/json.h"
#include "profiles/node_builder.h"
#include "profiles/text.h"

namespace kvfit::profiles {
namespace {

// Reads the text byte by byte and tells the handler how far the parser has come.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at = nullptr;
  const char** reached = nullptr;

  reference operator*() const { return *at; }
  CountingIterator& operator++() {
    ++at;
    if (reached) *reached = at;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at == b.at; }
};

class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Handler(std::shared_ptr<const Source> source) : source_(std::move(source)), reached_(source_->text.data()) {}

  const char** reached() { return &reached_; }
  Node take() { return std::move(root_); }

  bool null() override { return add(start(Node::Kind::null, 4)); }
  bool boolean(bool value) override {
    Node node = start(Node::Kind::boolean, value ? 4 : 5);
    NodeBuilder::set_boolean(node, value, value ? "true" : "false");
    return add(std::move(node));
  }
  bool number_integer(number_integer_t value) override { return add_integer(value, std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(INT64_MAX)) fail("number too large");
    return add_integer(static_cast<std::int64_t>(value), std::to_string(value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    Node node = start(Node::Kind::real, text.size());
    NodeBuilder::set_real(node, value, text);
    return add(std::move(node));
  }
  bool string(string_t& value) override {
    Node node = start(Node::Kind::string, value.size() + 2);
    NodeBuilder::set_string(node, std::move(value));
    return add(std::move(node));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Node::Kind::map); }
  bool key(string_t& name) override {
    advance(name.size() + 2);
    if (!keys_.back().insert(name).second) fail(format("duplicate key '{}'", name));
    pending_.back() = std::move(name);
    return true;
  }
  bool end_object() override { return shut(); }
  bool start_array(std::size_t) override { return open(Node::Kind::list); }
  bool end_array() override { return shut(); }
  bool parse_error(std::size_t, const std::string& token, const nlohmann::detail::exception& error) override {
    advance(0);
    std::string why = error.what();
    const std::size_t cut = why.find("syntax error");
    if (cut != std::string::npos) why = why.substr(cut);
    const bool truncated = token.empty() || why.find("unexpected end of input") != std::string::npos;
    fail(truncated ? "not JSON: the text ends too early" : "not JSON: " + why);
  }

 private:
  // The parser stands one byte behind a token (numbers) or on its end; lines are counted forward only.
  void advance(std::size_t length) {
    const std::size_t offset = static_cast<std::size_t>(reached_ - source_->text.data());
    const std::size_t target = offset > length ? offset - length : 0;
    while (scanned_ < target && scanned_ < source_->text.size()) {
      if (source_->text[scanned_] == '\n') {
        ++line_;
        line_start_ = scanned_ + 1;
      }
      ++scanned_;
    }
    column_ = static_cast<int>(target >= line_start_ ? target - line_start_ : 0) + 1;
  }
  [[noreturn]] void fail(std::string message) {
    fail_input(std::move(message), place_in(*source_, line_, column_, pending_.empty() ? "" : pending_.back()));
  }
  Node start(Node::Kind kind, std::size_t length) {
    if (++count_ > kMaxNodes) fail("too many values in one document");
    advance(length);
    return NodeBuilder::make(kind, line_, column_, source_);
  }
  bool add_integer(std::int64_t value, std::string text) {
    const std::size_t length = text.size() + 1;
    Node node = start(Node::Kind::integer, length);
    NodeBuilder::set_integer(node, value, std::move(text));
    return add(std::move(node));
  }
  bool add(Node node) {
    if (stack_.empty()) {
      root_ = std::move(node);
    } else if (stack_.back().is_map()) {
      NodeBuilder::members(stack_.back()).emplace_back(pending_.back(), std::move(node));
    } else {
      NodeBuilder::items(stack_.back()).push_back(std::move(node));
    }
    return true;
  }
  bool open(Node::Kind kind) {
    if (static_cast<int>(stack_.size()) >= kMaxDepth) {
      advance(1);
      fail(format("nested too deeply: more than {} levels", kMaxDepth));
    }
    stack_.push_back(start(kind, 1));
    keys_.emplace_back();
    pending_.emplace_back();
    return true;
  }
  bool shut() {
    Node node = std::move(stack_.back());
    stack_.pop_back();
    keys_.pop_back();
    pending_.pop_back();
    return add(std::move(node));
  }

  std::shared_ptr<const Source> source_;
  const char* reached_;
  std::size_t scanned_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  int column_ = 1;
  std::int64_t count_ = 0;
  Node root_;
  std::vector<Node> stack_;
  std::vector<std::set<std::string>> keys_;
  std::vector<std::string> pending_;
};

}  // namespace

Node parse_json(std::string text, std::string file) {
  std::shared_ptr<const Source> source =
      std::make_shared<const Source>(Source{.file = std::move(file), .text = std::move(text)});
  check_text(*source);
  Handler handler(source);
  const char* begin = source->text.data();
  const char* end = begin + source->text.size();
  const CountingIterator first{begin, handler.reached()};
  const CountingIterator last{end, nullptr};
  nlohmann::json::sax_parse(first, last, &handler);
  Node root = handler.take();
  NodeBuilder::name_keys(root);
  return root;
}

}  // namespace kvfit::profiles
