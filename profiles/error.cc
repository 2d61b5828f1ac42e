#include "profiles/error.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace kvfit::profiles {
namespace {

std::string place(const Where& where) {
  std::string out = "\n  --> " + (where.file.empty() ? std::string("<input>") : where.file);
  if (where.line > 0) out += ":" + std::to_string(where.line);
  if (where.line > 0 && where.column > 0) out += ":" + std::to_string(where.column);
  if (!where.key.empty()) out += "  (" + where.key + ")";
  return out;
}

// One source line and a caret under the column; long lines (minified JSON) are cut around the column.
std::string quoted(const Where& where) {
  constexpr std::size_t kSpan = 72;
  const std::size_t column =
      std::min(where.column > 0 ? static_cast<std::size_t>(where.column - 1) : 0, where.excerpt.size());
  const std::size_t start = column > kSpan / 2 && where.excerpt.size() > kSpan ? column - kSpan / 2 : 0;
  std::string line = where.excerpt.substr(start, kSpan);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  const std::string number = std::to_string(where.line);
  std::string out = "\n " + number + " | " + line;
  if (where.column > 0) {
    out += "\n " + std::string(number.size(), ' ') + " | " + std::string(column - start, ' ') + "^";
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
  return out;
}

void fail_input(std::string message, Where where, std::string hint) {
  throw Error(Fault::input, std::move(message), std::move(where), std::move(hint));
}

void fail_environment(std::string message, Where where, std::string hint) {
  throw Error(Fault::environment, std::move(message), std::move(where), std::move(hint));
}

}  // namespace kvfit::profiles
