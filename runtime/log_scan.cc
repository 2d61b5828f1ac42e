#include "runtime/log_scan.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "profiles/json.h"

namespace kvfit::runtime {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

struct Unit {
  std::string_view name;
  double gib;
};

constexpr double kMiB = 1.0 / 1024;
constexpr std::array kUnits = {
    Unit{"TiB", 1024},       Unit{"GiB", 1},         Unit{"MiB", kMiB},     Unit{"KiB", kMiB / 1024},
    Unit{"TB", 1024},        Unit{"GB", 1},          Unit{"MB", kMiB},      Unit{"KB", kMiB / 1024},
    Unit{"kB", kMiB / 1024}, Unit{"bytes", 0x1p-30}, Unit{"byte", 0x1p-30}, Unit{"B", 0x1p-30},
};

// Length of a number at the start of `text`, and its digits without separators.
std::size_t read_digits(std::string_view text, bool fraction, std::string& out) {
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) out += text[i++] == '-' ? "-" : "";
  const std::size_t first = i;
  bool dot = false;
  while (i < text.size()) {
    const char c = text[i];
    const bool digit_follows = i + 1 < text.size() && digit(text[i + 1]);
    if (digit(c)) {
      out += c;
    } else if (c == '.' && fraction && !dot && digit_follows) {
      dot = true;
      out += c;
    } else if (!((c == ',' || c == '_') && !dot && i > first && digit_follows)) {
      break;
    }
    ++i;
  }
  return i > first && i < 64 ? i : 0;
}

}  // namespace

bool Scan::past(std::string_view landmark) {
  const std::size_t at = rest_.find(landmark);
  if (at == std::string_view::npos) return false;
  rest_.remove_prefix(at + landmark.size());
  return true;
}

bool Scan::accept(std::string_view prefix) {
  if (!rest_.starts_with(prefix)) return false;
  rest_.remove_prefix(prefix.size());
  return true;
}

std::optional<double> Scan::number() {
  std::string text;
  const std::size_t length = read_digits(rest_, true, text);
  double out = 0;
  if (length == 0 || std::from_chars(text.data(), text.data() + text.size(), out).ec != std::errc()) return std::nullopt;
  rest_.remove_prefix(length);
  return out;
}

std::optional<std::int64_t> Scan::integer() {
  std::string text;
  const std::size_t length = read_digits(rest_, false, text);
  std::int64_t out = 0;
  if (length == 0 || std::from_chars(text.data(), text.data() + text.size(), out).ec != std::errc()) return std::nullopt;
  rest_.remove_prefix(length);
  return out;
}

std::optional<double> Scan::unit() {
  const std::string_view before = rest_;
  while (accept(" ")) continue;
  for (const Unit& unit : kUnits) {
    if (!rest_.starts_with(unit.name)) continue;
    if (rest_.size() > unit.name.size() && letter(rest_[unit.name.size()])) continue;
    rest_.remove_prefix(unit.name.size());
    return unit.gib;
  }
  rest_ = before;
  return std::nullopt;
}

std::optional<double> Scan::size() {
  const std::string_view before = rest_;
  while (accept(" ")) continue;
  const std::optional<double> count = number();
  const std::optional<double> scale = count ? unit() : std::nullopt;
  if (scale) return *count * *scale;
  rest_ = before;
  return std::nullopt;
}

std::string_view Scan::until(std::string_view stops) {
  const std::string_view out = rest_.substr(0, rest_.find_first_of(stops));
  rest_.remove_prefix(out.size());
  return out;
}

std::optional<double> number_after(std::string_view text, std::string_view landmark) {
  Scan scan(text);
  return scan.past(landmark) ? scan.number() : std::nullopt;
}

std::optional<std::int64_t> integer_after(std::string_view text, std::string_view landmark) {
  Scan scan(text);
  return scan.past(landmark) ? scan.integer() : std::nullopt;
}

std::string plain_line(std::string_view line) {
  std::string out;
  out.reserve(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
      i += 2;
      while (i < line.size() && !(line[i] >= '@' && line[i] <= '~')) ++i;
    } else if (static_cast<unsigned char>(line[i]) >= 0x20 || line[i] == '\t') {
      out += line[i];
    }
  }
  return out;
}

std::optional<std::string> wrapped_text(std::string_view line) {
  constexpr std::array kKeys = {"log", "message", "msg", "text", "line", "textPayload", "body", "event"};
  std::optional<std::string> out;
  std::string rest(line);
  for (int depth = 0; depth < 3; ++depth) {
    const std::size_t open = rest.find('{');
    const std::size_t shut = rest.find_last_not_of(" \t\r\n");
    if (open == std::string::npos || rest[shut] != '}') break;
    const profiles::Json object =
        profiles::Json::parse(rest.begin() + static_cast<std::ptrdiff_t>(open),
                              rest.begin() + static_cast<std::ptrdiff_t>(shut) + 1, nullptr, false);
    if (!object.is_object()) break;
    const auto key = std::find_if(kKeys.begin(), kKeys.end(),
                                  [&object](const char* k) { return object.contains(k) && object[k].is_string(); });
    if (key == kKeys.end()) break;
    rest = object[*key].get<std::string>();
    out = rest;
  }
  return out;
}

std::string writer_of(std::string_view line) {
  constexpr std::size_t kPrefix = 160;  // time stamps and container names before the engine's own text
  const std::string_view head = line.substr(0, kPrefix);
  for (std::size_t open = head.find('('); open != std::string_view::npos; open = head.find('(', open + 1)) {
    const std::size_t shut = head.find(')', open);
    if (shut == std::string_view::npos) break;
    std::string_view inside = head.substr(open + 1, shut - open - 1);
    const std::size_t pid = inside.find(" pid=");
    if (pid != std::string_view::npos) inside = inside.substr(0, pid);
    const bool name = !inside.empty() && (inside.find("Worker") != std::string_view::npos ||
                                          inside.find("Engine") != std::string_view::npos || inside.find("APIServer") == 0);
    if (name) {
      // "VllmWorker TP0" and "VllmWorker-1" are one word for us
      std::string out(inside);
      for (char& c : out) {
        if (c == ' ' || c == '-' || c == '=' || c == ':') c = '_';
      }
      return out;
    }
  }
  return {};
}

}  // namespace kvfit::runtime
