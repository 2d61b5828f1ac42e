#include "profiles/document.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "profiles/error.h"
#include "profiles/node_builder.h"
#include "profiles/suggest.h"
#include "profiles/text.h"
#include "profiles/units.h"
#include "profiles/utf8.h"

namespace kvfit::profiles {
namespace {

std::string_view kind_name(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::boolean:
      return "true/false";
    case Node::Kind::integer:
      return "a whole number";
    case Node::Kind::real:
      return "a number";
    case Node::Kind::string:
      return "text";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a map";
  }
  return "something else";
}

[[noreturn]] void wrong_kind(const Node& node, std::string_view expected) {
  node.fail(format("expected {}, found {}", expected, kind_name(node.kind())));
}

// "layers[3].norm": the keys from the root down to `step`.
std::string dotted(const std::vector<Source::Step>& steps, int step) {
  if (step < 0) return {};
  const Source::Step& own = steps[static_cast<std::size_t>(step)];
  if (own.above < 0) return {};
  std::string out = dotted(steps, own.above);
  if (own.key.empty()) return out.append("[").append(std::to_string(own.index)).append("]");
  return (out.empty() ? out : out.append(".")).append(own.key);
}

}  // namespace

void NodeBuilder::name_keys(Node& root, Source& source, int above, std::size_t index, std::string_view key) {
  root.step_ = static_cast<int>(source.steps.size());
  const int own = root.step_;
  source.steps.push_back({.above = above, .index = index, .key = std::string(key)});
  std::size_t at = 0;
  for (Node& item : root.items_) name_keys(item, source, own, at++, {});
  for (auto& [name, value] : root.members_) name_keys(value, source, own, 0, name);
}

Where place_in(const Source& source, int line, int column, std::string key) {
  Where where{.file = source.file, .line = line, .column = column, .key = std::move(key), .excerpt = {}};
  std::size_t start = 0;
  for (int i = 1; i < line && start != std::string::npos; ++i) {
    start = source.text.find('\n', start);
    if (start != std::string::npos) ++start;
  }
  if (line > 0 && start != std::string::npos)
    where.excerpt = source.text.substr(start, source.text.find('\n', start) - start);
  return where;
}

void check_text(const Source& source) {
  const std::string_view text = source.text;
  const std::size_t malformed = first_not_utf8(text);
  const auto* const control = std::find_if(text.begin(), text.end(),
                                           [](unsigned char c) { return c < 0x20 && c != '\t' && c != '\n' && c != '\r'; });
  const std::size_t bad = std::min(malformed, static_cast<std::size_t>(control - text.begin()));
  if (bad == text.size()) return;
  const std::string_view before = text.substr(0, bad);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0
  const int line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  fail_input(bad == malformed ? "not UTF-8 text" : "a control character in the text",
             place_in(source, line, static_cast<int>(bad - line_start) + 1, ""));
}

Scalar read_number(std::string_view text) {
  Scalar out;
  if (text.empty()) return out;
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (*begin == '+') ++begin;
  const char* digit = begin != end && *begin == '-' ? begin + 1 : begin;
  if (digit == end || !(std::isdigit(static_cast<unsigned char>(*digit)) || *begin == '.')) return out;
  const std::from_chars_result whole = std::from_chars(begin, end, out.integer);
  if (whole.ec == std::errc() && whole.ptr == end) {
    out.kind = Node::Kind::integer;
    out.real = static_cast<double>(out.integer);
    return out;
  }
  const std::from_chars_result real = std::from_chars(begin, end, out.real);
  if (real.ec == std::errc() && real.ptr == end && std::isfinite(out.real)) out.kind = Node::Kind::real;
  return out;
}

std::int64_t Node::integer() const {
  if (kind_ == Kind::integer) return integer_;
  if (kind_ == Kind::real && std::nearbyint(real_) == real_ && std::fabs(real_) < 9.0e15)
    return static_cast<std::int64_t>(real_);
  wrong_kind(*this, "a whole number");
}

std::int64_t Node::integer(std::int64_t lo, std::int64_t hi) const {
  const std::int64_t value = integer();
  if (value < lo || value > hi) fail(format("{} is out of range: {} to {} is allowed", value, lo, hi));
  return value;
}

double Node::number() const {
  if (!is_number()) wrong_kind(*this, "a number");
  return real_;
}

bool Node::boolean() const {
  if (kind_ != Kind::boolean) wrong_kind(*this, "true or false");
  return boolean_;
}

const std::string& Node::string() const {
  if (kind_ != Kind::string) wrong_kind(*this, "text");
  return text_;
}

std::string Node::scalar_text() const {
  if (kind_ == Kind::list || kind_ == Kind::map) wrong_kind(*this, "a single value");
  return text_;
}

const std::vector<Node>& Node::list() const {
  if (kind_ != Kind::list) wrong_kind(*this, "a list");
  return items_;
}

const std::vector<std::pair<std::string, Node>>& Node::members() const {
  if (kind_ != Kind::map) wrong_kind(*this, "a map");
  return members_;
}

const Node* Node::find(std::string_view key) const {
  for (const auto& [name, value] : members()) {
    if (name == key) return value.is_null() ? nullptr : &value;
  }
  return nullptr;
}

const Node& Node::at(std::string_view key) const {
  if (const Node* found = find(key)) return *found;
  std::vector<std::string> known;
  for (const auto& [name, value] : members()) {
    if (name == key) value.fail(format("'{}' must have a value", key));
    known.push_back(name);
  }
  fail(format("missing key '{}'", key), did_you_mean(key, known));
}

Where Node::where() const {
  if (!source_) return {};
  return place_in(*source_, line_, column_, dotted(source_->steps, step_));
}

std::string Node::place() const { return source_ ? format("{}:{}", source_->file, line_) : std::string(); }

void Node::fail(std::string message, std::string hint) const { fail_input(std::move(message), where(), std::move(hint)); }

std::string read_text_file(const std::string& path, std::int64_t limit) {
  const Where where{.file = path, .line = 0, .column = 0, .key = {}, .excerpt = {}};
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) fail_input("a directory, where a file was expected", where);
  if (!std::filesystem::exists(status)) fail_input("no such file", where);
  std::ifstream in(path, std::ios::binary);
  if (!in) fail_input(format("cannot open the file: {}", std::generic_category().message(errno)), where);
  std::string text;
  std::vector<char> piece(std::size_t{1} << 16);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (static_cast<std::int64_t>(text.size()) > limit)
      fail_input(format("the file is too large: at most {} bytes are read", grouped(limit)), where);
  }
  if (in.bad()) fail_environment("cannot read the file", where);
  return text;
}

Fields::Fields(const Node& map) : map_(map) { map.members(); }

const Node* Fields::find(std::string_view key) {
  asked_.emplace_back(key);
  return map_.find(key);
}

const Node& Fields::at(std::string_view key) {
  asked_.emplace_back(key);
  return map_.at(key);
}

std::int64_t Fields::integer(std::string_view key, std::int64_t fallback) {
  const Node* node = find(key);
  return node ? node->integer() : fallback;
}

double Fields::number(std::string_view key, double fallback) {
  const Node* node = find(key);
  return node ? node->number() : fallback;
}

bool Fields::boolean(std::string_view key, bool fallback) {
  const Node* node = find(key);
  return node ? node->boolean() : fallback;
}

std::string Fields::string(std::string_view key, const std::string& fallback) {
  const Node* node = find(key);
  return node ? node->string() : fallback;
}

void Fields::ignore(std::string_view key) { asked_.emplace_back(key); }

void Fields::finish() const {
  for (const auto& [name, value] : map_.members()) {
    if (std::find(asked_.begin(), asked_.end(), name) == asked_.end()) {
      value.fail(format("unknown key '{}'", name), did_you_mean(name, asked_));
    }
  }
}

}  // namespace kvfit::profiles
