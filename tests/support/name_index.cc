#include "tests/support/name_index.h"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace kvfit::tests {
namespace {

constexpr const char* kTotal = "total_size ";

}  // namespace

std::vector<std::string> expand_runs(const std::string& line) {
  const std::size_t open = line.find('{');
  if (open == std::string::npos) return {line};
  const std::size_t close = line.find('}', open);
  std::vector<std::string> out;
  std::istringstream runs(line.substr(open + 1, close - open - 1));
  for (std::string run; std::getline(runs, run, ',');) {
    const std::size_t dash = run.find('-');
    const int first = std::stoi(run);
    const int last = dash == std::string::npos ? first : std::stoi(run.substr(dash + 1));
    for (int i = first; i <= last; ++i) {
      const std::vector<std::string> inner = expand_runs(line.substr(0, open) + std::to_string(i) + line.substr(close + 1));
      out.insert(out.end(), inner.begin(), inner.end());
    }
  }
  return out;
}

NameIndex parse_name_index(const std::string& text) {
  NameIndex out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with(kTotal)) {
      out.total_size = std::stoll(line.substr(std::string(kTotal).size()));
      continue;
    }
    const std::vector<std::string> names = expand_runs(line);
    out.names.insert(out.names.end(), names.begin(), names.end());
  }
  std::sort(out.names.begin(), out.names.end());
  return out;
}

}  // namespace kvfit::tests
