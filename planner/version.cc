#include <array>
#include <charconv>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "planner/rules.h"

namespace kvfit::planner {
namespace {

constexpr int kDevStage = -2000;  // "0.31.dev5", "0.31-dev": before every candidate
constexpr int kRcStage = -1000;   // "0.26.1rc1" is kRcStage + 1
constexpr int kDevBase = -10'000'000;

bool digit(char c) { return c >= '0' && c <= '9'; }

// Walks over the text; every read leaves it where it was when there is nothing of the kind.
struct Reader {
  std::string_view rest;

  bool take(std::string_view word) {
    if (!rest.starts_with(word)) return false;
    rest.remove_prefix(word.size());
    return true;
  }
  std::optional<int> number() {
    std::size_t n = 0;
    while (n < rest.size() && n < 8 && digit(rest[n])) ++n;
    if (n == 0 || (n < rest.size() && digit(rest[n]))) return std::nullopt;
    int value = 0;
    const std::string_view digits = rest.substr(0, n);
    std::from_chars(digits.begin(), digits.end(), value);
    rest.remove_prefix(n);
    return value;
  }
  bool at_end() const { return rest.empty() || rest.front() == '+' || rest.front() == ' '; }
};

// ".devN", "-dev", "rcN", "postN" after the release numbers; false when something else follows.
bool read_suffix(Reader& reader, Version& out) {
  const bool dashed = reader.rest.starts_with("-");  // "0.17.0-cu130" names an image of that release
  if (reader.rest.size() > 1 && !digit(reader.rest[1])) {
    if (!reader.take(".")) reader.take("-");
  }
  if (reader.take("rc")) {
    out.stage = kRcStage + reader.number().value_or(0);
    reader.take(".");
  }
  if (reader.take("post")) {
    if (!reader.number()) return false;
    reader.take(".");
  }
  if (reader.take("dev")) {
    if (out.stage == 0) out.stage = kDevStage;
    out.dev = kDevBase + reader.number().value_or(-kDevBase - 1);
  }
  return dashed || reader.at_end() || reader.rest.front() == '.' || reader.rest.front() == '-';
}

}  // namespace

Version parse_version(std::string_view text) {
  Version out;
  out.text = std::string(text);
  Reader reader{text};
  while (reader.take("~") || reader.take(" ") || reader.take("=")) continue;
  if (!reader.take("v")) reader.take("V");
  std::array<int, 3> parts{};
  std::size_t n = 0;
  while (n < parts.size()) {
    if (n > 0 && reader.take("x")) break;  // "0.12.x": any patch
    const std::optional<int> part = reader.number();
    if (!part) break;
    parts[n++] = *part;
    if (n == parts.size()) break;  // "0.10.1.1" is a rebuild of 0.10.1
    if (reader.rest.size() < 2 || reader.rest.front() != '.' || !(digit(reader.rest[1]) || reader.rest[1] == 'x')) break;
    reader.take(".");
  }
  // "26.06" is a container's date, "0.1.dev12" a checkout without tags: neither says which release it is.
  const bool release = n >= 2 && parts[0] <= 20 && read_suffix(reader, out) && !(parts[0] == 0 && parts[1] < 2);
  if (!release) {
    out.stage = out.dev = 0;
    return out;
  }
  out.major = parts[0];
  out.minor = parts[1];
  out.patch = parts[2];
  out.known = true;
  return out;
}

int compare(const Version& a, const Version& b) {
  if (a.known != b.known) return a.known ? -1 : 1;
  if (!a.known) return 0;
  const std::array<int, 5> left{a.major, a.minor, a.patch, a.stage, a.dev};
  const std::array<int, 5> right{b.major, b.minor, b.patch, b.stage, b.dev};
  if (left == right) return 0;
  return left < right ? -1 : 1;
}

}  // namespace kvfit::planner
