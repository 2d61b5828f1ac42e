#include "runtime/embedded_text.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvfit::runtime {

std::string embedded_text(const profiles::Node& scalar, const TextPlaces& places) {
  const std::string& text = scalar.string();
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string::npos || text.find('\n') == std::string::npos) return text;
  const std::size_t start = text.rfind('\n', first) == std::string::npos ? 0 : text.rfind('\n', first) + 1;
  const std::string_view line = std::string_view(text).substr(first, text.find('\n', first) - first);
  const profiles::Where at = scalar.where();
  const profiles::Where found = places.find(line, at.line, at.column, at);
  const int indent = found.column - 1 - static_cast<int>(first - start);
  if (found.line <= at.line || indent < 0) return text;
  const std::string pad(static_cast<std::size_t>(indent), ' ');
  std::string out(static_cast<std::size_t>(found.line - 1), '\n');
  std::string_view rest = std::string_view(text).substr(start);
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, std::min(rest.find('\n'), rest.size()));
    if (!one.empty()) out.append(pad).append(one);
    out += '\n';
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
  return out;
}

profiles::Node parse_embedded_yaml(const profiles::Node& scalar, const TextPlaces& places) {
  std::vector<profiles::Node> documents = profiles::parse_yaml_stream(embedded_text(scalar, places), places.file());
  return std::move(documents.front());
}

}  // namespace kvfit::runtime
