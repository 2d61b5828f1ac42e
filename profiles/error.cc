#include "profiles/error.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/utf8.h"

namespace kvfit::profiles {
namespace {

std::string place(const Where& where) {
  std::string out = "\n  --> " + (where.file.empty() ? std::string("<input>") : where.file);
  if (where.line > 0) out += ":" + std::to_string(where.line);
  if (where.line > 0 && where.column > 0) out += ":" + std::to_string(where.column);
  if (!where.key.empty()) out += "  (" + where.key + ")";
  return out;
}

// What a terminal would obey is shown, not sent: control characters other than the ends of our own lines and bytes that are
// not UTF-8 become '?'.
std::string harmless(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const bool control = (static_cast<unsigned char>(text[0]) < 0x20 && text[0] != '\n') || text[0] == 0x7f;
    out += length == 0 || control ? "?" : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return out;
}

// Bytes of the character at `at`; a byte that starts none counts for itself.
std::size_t step(std::string_view text, std::size_t at) { return std::max<std::size_t>(1, utf8_length(text.substr(at))); }

// One source line and a caret under the column; long lines (minified JSON) are cut around the column.
std::string quoted(const Where& where) {
  constexpr std::size_t kBefore = 36;
  constexpr std::size_t kSpan = 72;
  const std::size_t column = where.column > 0 ? static_cast<std::size_t>(where.column - 1) : 0;  // in bytes
  std::string line = where.excerpt;
  std::replace(line.begin(), line.end(), '\t', ' ');
  std::vector<std::size_t> starts;  // of each character
  for (std::size_t at = 0; at < line.size(); at += step(line, at)) starts.push_back(at);
  const std::size_t caret =
      static_cast<std::size_t>(std::lower_bound(starts.begin(), starts.end(), column) - starts.begin());
  const std::size_t first = starts.size() > kSpan && caret > kBefore ? caret - kBefore : 0;
  const std::size_t last = std::min(starts.size(), first + kSpan);
  starts.push_back(line.size());
  const std::string number = std::to_string(where.line);
  std::string out = "\n " + number + " | " + line.substr(starts[first], starts[last] - starts[first]);
  if (where.column > 0) {
    out += "\n " + std::string(number.size(), ' ') + " | " + std::string(caret - first, ' ') + "^";
  }
  return out;
}

}  // namespace

Error::Error(Fault fault, std::string message, Where where, std::string hint)
    : fault_(fault), message_(std::move(message)), where_(std::move(where)), hint_(std::move(hint)), what_(text()) {}

std::string Error::text() const {
  std::string out = "error: " + message_;
  if (!where_.file.empty() || where_.line > 0 || !where_.key.empty()) out += place(where_);
  if (!where_.excerpt.empty() && where_.line > 0) out += quoted(where_);
  if (!hint_.empty()) out += "\n  help: " + hint_;
  return harmless(out);
}

void fail_input(std::string message, Where where, std::string hint) {
  throw Error(Fault::input, std::move(message), std::move(where), std::move(hint));
}

void fail_environment(std::string message, Where where, std::string hint) {
  throw Error(Fault::environment, std::move(message), std::move(where), std::move(hint));
}

}  // namespace kvfit::profiles
