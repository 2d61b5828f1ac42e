#include "carve/json_spans.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "models/header_scanner.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/utf8.h"

namespace kvfit::carve {
namespace {

using profiles::format;

constexpr int kDeepest = 64;
constexpr std::int64_t kMostValues = 4'000'000;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

class SpanParser {
 public:
  SpanParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  JsonSpan run() {
    if (const std::size_t bad = profiles::first_not_utf8(text_); bad != text_.size()) {
      profiles::fail_input(format("the file is not UTF-8 at byte {}", bad), {.file = file_});
    }
    JsonSpan root = value(0);
    skip_space();
    if (at_ != text_.size()) fail("the end of the file");
    return root;
  }

 private:
  JsonSpan value(int depth);
  void object(JsonSpan& out, int depth);
  void array(JsonSpan& out, int depth);
  std::string string();
  bool more(bool& first, char close);
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void fail(std::string_view expected) const {
    profiles::fail_input(format("this is not valid JSON: expected {} at byte {}", expected, at_), {.file = file_});
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::int64_t values_ = 0;
};

bool SpanParser::more(bool& first, char close) {
  if (take(close)) return false;
  if (!first && !take(',')) fail(format("',' or '{}'", close));
  first = false;
  return true;
}

JsonSpan SpanParser::value(int depth) {
  if (depth > kDeepest) fail("fewer nested values");
  if (++values_ > kMostValues) fail("fewer values");
  skip_space();
  JsonSpan out;
  out.begin = at_;
  if (at_ < text_.size() && text_[at_] == '"') {
    out.kind = JsonSpan::Kind::string;
    out.text = string();
  } else if (take('{')) {
    out.kind = JsonSpan::Kind::object;
    object(out, depth);
  } else if (take('[')) {
    out.kind = JsonSpan::Kind::array;
    array(out, depth);
  } else {
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == out.begin) fail("a value");
    out.text = std::string(text_.substr(out.begin, at_ - out.begin));
  }
  out.end = at_;
  return out;
}

void SpanParser::object(JsonSpan& out, int depth) {
  std::unordered_set<std::string> seen;
  bool first = true;
  while (more(first, '}')) {
    skip_space();
    JsonMember member;
    member.begin = at_;
    member.key = string();
    member.key_end = at_;
    if (!seen.insert(member.key).second) {
      profiles::fail_input(format("the key '{}' appears twice in one object", models::printable(member.key)),
                           {.file = file_});
    }
    if (!take(':')) fail("':'");
    member.value = value(depth + 1);
    out.members.push_back(std::move(member));
  }
}

void SpanParser::array(JsonSpan& out, int depth) {
  bool first = true;
  while (more(first, ']')) out.items.push_back(value(depth + 1));
}

// Finds the end, then lets the header scanner decode a copy: escapes are its business.
std::string SpanParser::string() {
  if (!take('"')) fail("a string");
  const std::size_t begin = at_ - 1;
  while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2U : 1U;
  if (at_ >= text_.size()) {
    at_ = text_.size();
    fail("the end of a string");
  }
  ++at_;
  std::vector<char> copy(text_.begin() + static_cast<std::ptrdiff_t>(begin),
                         text_.begin() + static_cast<std::ptrdiff_t>(at_));
  models::HeaderScanner scan(copy, file_, models::HeaderScanner::What::index);
  return std::string(scan.string());
}

}  // namespace

const JsonSpan* JsonSpan::find(std::string_view key) const {
  for (const JsonMember& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

JsonSpan parse_json_spans(std::string_view text, const std::string& file) { return SpanParser(text, file).run(); }

std::string apply_edits(std::string_view text, std::vector<JsonEdit> edits) {
  std::sort(edits.begin(), edits.end(), [](const JsonEdit& a, const JsonEdit& b) { return a.begin < b.begin; });
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  for (const JsonEdit& edit : edits) {
    if (edit.begin < at || edit.end < edit.begin || edit.end > text.size()) {
      throw profiles::Error(profiles::Fault::bug, "edits of a JSON file overlap");
    }
    out.append(text.substr(at, edit.begin - at)).append(edit.text);
    at = edit.end;
  }
  return out.append(text.substr(at));
}

void remove_children(const JsonSpan& container, const std::vector<bool>& removed, std::vector<JsonEdit>& edits) {
  const bool list = container.kind == JsonSpan::Kind::array;
  const auto begin = [&](std::size_t i) { return list ? container.items[i].begin : container.members[i].begin; };
  const auto end = [&](std::size_t i) { return list ? container.items[i].end : container.members[i].value.end; };
  const std::size_t count = removed.size();
  if (std::find(removed.begin(), removed.end(), true) == removed.end()) return;
  if (std::find(removed.begin(), removed.end(), false) == removed.end()) {
    edits.push_back({begin(0), end(count - 1), ""});
    return;
  }
  bool kept_before = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (!removed[i]) {
      kept_before = true;
    } else if (kept_before) {
      edits.push_back({end(i - 1), end(i), ""});
    } else {
      edits.push_back({begin(i), begin(i + 1), ""});
    }
  }
}

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (byte < 0x20) {
          out += format("\\u{:04x}", byte);
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

}  // namespace kvfit::carve
