// JSON through nlohmann's SAX parser, fed by an iterator that counts bytes, so that every value keeps its place.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
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

// The library's "syntax error while parsing X - WHY; last read: 'Y'; expected Z" without what the caret shows: "WHY;
// expected Z".
std::string reason(std::string_view what) {
  const std::size_t dash = what.find(" - ");
  std::string out(dash == std::string_view::npos ? what : what.substr(dash + 3));
  const std::size_t read = out.find("; last read: '");
  if (read != std::string::npos) {
    const std::size_t expected = out.rfind("; expected ");
    out.erase(read, expected == std::string::npos || expected < read ? std::string::npos : expected - read);
  }
  return out;
}

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
    if (value > static_cast<number_unsigned_t>(INT64_MAX)) {
      advance(std::to_string(value).size() + 1);
      fail(format("number too large: {}", value));
    }
    return add_integer(static_cast<std::int64_t>(value), std::to_string(value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    Node node = start(Node::Kind::real, text.size() + 1);
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
    pending_.back() = name;
    if (!keys_.back().insert(std::move(name)).second) fail(format("duplicate key '{}'", pending_.back()));
    return true;
  }
  bool end_object() override { return shut(); }
  bool start_array(std::size_t) override { return open(Node::Kind::list); }
  bool end_array() override { return shut(); }
  bool parse_error(std::size_t, const std::string& token, const nlohmann::detail::exception& error) override {
    const std::string_view why = error.what();
    const bool truncated = token.empty() || why.find("unexpected end of input") != std::string_view::npos;
    advance(truncated ? 0 : 1);
    if (truncated) fail("not JSON: the text ends too early");
    if (why.find("number overflow") != std::string_view::npos) fail(format("number too large: {}", token));
    fail(format("not JSON: {}", reason(why)));
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
  [[noreturn]] void fail(std::string message) { fail_input(std::move(message), place_in(*source_, line_, column_, path())); }
  // Where the parser stands, as Node::where spells it: "a.b[2]".
  std::string path() const {
    std::string out;
    for (std::size_t i = 0; i < stack_.size(); ++i) {
      if (!stack_[i].is_map()) {
        out += format("[{}]", NodeBuilder::items(stack_[i]).size());
      } else if (!pending_[i].empty()) {
        out += (out.empty() ? "" : ".") + pending_[i];
      }
    }
    return out;
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

// Python writes Infinity, which JSON does not know, and published configs hold it (time_step_limit). It becomes null, padded
// with blanks so that places stay where they were. NaN stays an error.
void blank_infinity(std::string& text) {
  if (text.find("Infinity") == std::string::npos) return;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && quoted) {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      for (const std::string_view token : {"-Infinity", "Infinity"}) {
        if (text.compare(i, token.size(), token) == 0)
          text.replace(i, token.size(), "null" + std::string(token.size() - 4, ' '));
      }
    }
  }
}

}  // namespace

Node parse_json(std::string text, std::string file) {
  blank_infinity(text);
  const std::shared_ptr<Source> source =
      std::make_shared<Source>(Source{.file = std::move(file), .text = std::move(text), .steps = {}});
  check_text(*source);
  Handler handler(source);
  const char* begin = source->text.data();
  const char* end = begin + source->text.size();
  const CountingIterator first{begin, handler.reached()};
  const CountingIterator last{end, nullptr};
  nlohmann::json::sax_parse(first, last, &handler);
  Node root = handler.take();
  NodeBuilder::name_keys(root, *source);
  return root;
}

}  // namespace kvfit::profiles
