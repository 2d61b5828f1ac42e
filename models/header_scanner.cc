#include "models/header_scanner.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

constexpr std::uint32_t kHighSurrogate = 0xD800, kLowSurrogate = 0xDC00, kSurrogateEnd = 0xE000;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// JSON's grammar: -?(0|[1-9]digits)(.digits)?([eE][+-]?digits)?
bool is_number(std::string_view text) {
  std::size_t at = 0;
  const auto take = [&](std::string_view any) {
    return at < text.size() && any.find(text[at]) != std::string_view::npos && ++at;
  };
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - begin;
  };
  take("-");
  const std::size_t whole = at;
  if (const std::size_t count = digits(); count == 0 || (count > 1 && text[whole] == '0')) return false;
  if (take(".") && digits() == 0) return false;
  if (take("eE")) {
    take("+-");
    if (digits() == 0) return false;
  }
  return at == text.size();
}

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

char* put_utf8(char* out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { *out++ = static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
  return out;
}

}  // namespace

std::string printable(std::string_view name) {
  constexpr std::size_t kLongest = 160;
  std::string out;
  for (const char c : name.substr(0, kLongest)) {
    const unsigned char byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? profiles::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return name.size() > kLongest ? out + "..." : out;
}

void HeaderScanner::fail(std::string_view expected) const {
  const bool header = what_ == What::header;
  profiles::fail_input(profiles::format("the {} is not valid: expected {} at byte {}", header ? "header" : "index", expected,
                                        (header ? 8 : 0) + at_),
                       {.file = file_}, "the file is damaged; fetch it again");
}

void HeaderScanner::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

bool HeaderScanner::at_end() {
  skip_space();
  return at_ == text_.size();
}

bool HeaderScanner::take(char c) {
  skip_space();
  if (at_ == text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void HeaderScanner::expect(char c) {
  if (!take(c)) fail(profiles::format("'{}'", c));
}

bool HeaderScanner::next(bool& first, char close) {
  if (take(close)) {
    return false;
  }
  if (!first && !take(',')) fail(profiles::format("',' or '{}'", close));
  first = false;
  return true;
}

std::string_view HeaderScanner::string() {
  if (!take('"')) fail("a string");
  const std::size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' && static_cast<unsigned char>(text_[at_]) >= 0x20)
    ++at_;
  char* out = text_.data() + at_;
  while (at_ < text_.size() && text_[at_] != '"') {
    if (static_cast<unsigned char>(text_[at_]) < 0x20) fail("no control character inside a string");
    if (text_[at_] == '\\') {
      ++at_;
      out = decode_escape(out);
    } else {
      *out++ = text_[at_++];
    }
  }
  if (at_ == text_.size()) fail("the end of a string");
  ++at_;
  const char* const start = text_.data() + begin;
  return {start, static_cast<std::size_t>(out - start)};
}

// Writes what `\x` stands for at `out`, which never overtakes the reader: every escape is at least as long as its UTF-8.
char* HeaderScanner::decode_escape(char* out) {
  constexpr std::string_view kEscapes = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (at_ == text_.size()) fail("the end of a string");
  const char kind = text_[at_++];
  if (const std::size_t known = kEscapes.find(kind); known != std::string_view::npos) {
    *out++ = kMeanings[known];
    return out;
  }
  if (kind != 'u') fail("a known escape");
  std::uint32_t code = hex4();
  if (code >= kLowSurrogate && code < kSurrogateEnd) fail("the first half of a surrogate pair");
  if (code >= kHighSurrogate && code < kLowSurrogate) {
    if (text_.size() - at_ < 2 || text_[at_] != '\\' || text_[at_ + 1] != 'u') fail("the second half of a surrogate pair");
    at_ += 2;
    const std::uint32_t low = hex4();
    if (low < kLowSurrogate || low >= kSurrogateEnd) fail("the second half of a surrogate pair");
    code = 0x10000 + ((code - kHighSurrogate) << 10) + (low - kLowSurrogate);
  }
  return put_utf8(out, code);
}

std::string_view HeaderScanner::skip_value() {
  skip_space();
  const std::size_t begin = at_;
  skip_nested(0);
  return {text_.data() + begin, at_ - begin};
}

void HeaderScanner::skip_nested(int depth) {
  constexpr int kDeepest = 32;
  if (depth > kDeepest) fail("fewer nested values");
  bool first = true;
  skip_space();
  if (at_ < text_.size() && text_[at_] == '"') {
    string();
  } else if (take('{')) {
    while (next(first, '}')) {
      string();
      expect(':');
      skip_nested(depth + 1);
    }
  } else if (take('[')) {
    while (next(first, ']')) skip_nested(depth + 1);
  } else {
    skip_word();
  }
}

// A number, true, false or null.
void HeaderScanner::skip_word() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  const std::string_view word(text_.data() + begin, at_ - begin);
  if (word == "true" || word == "false" || word == "null" || is_number(word)) return;
  at_ = begin;
  fail("a value");
}

std::uint32_t HeaderScanner::hex4() {
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    if (at_ == text_.size()) fail("four hexadecimal digits");
    const char c = text_[at_];
    const char lower = static_cast<char>(c | 0x20);
    if (is_digit(c)) {
      code = code * 16 + static_cast<std::uint32_t>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      code = code * 16 + static_cast<std::uint32_t>(lower - 'a' + 10);
    } else {
      fail("four hexadecimal digits");
    }
  }
  return code;
}

std::int64_t HeaderScanner::unsigned_integer() {
  skip_space();
  const std::size_t begin = at_;
  std::int64_t value = 0;
  while (at_ < text_.size() && is_digit(text_[at_])) {
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
        __builtin_add_overflow(value, std::int64_t{text_[at_] - '0'}, &value)) {
      fail("a number below 2^63");
    }
    ++at_;
  }
  if (at_ == begin) fail("a whole number of zero or more");
  if (at_ - begin > 1 && text_[begin] == '0') fail("a number without leading zeros");
  if (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E')) fail("a whole number");
  return value;
}

}  // namespace kvfit::models
