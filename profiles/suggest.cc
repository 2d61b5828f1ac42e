#include "profiles/suggest.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvfit::profiles {

int edit_distance(std::string_view a, std::string_view b, int limit) {
  const int na = static_cast<int>(a.size());
  const int nb = static_cast<int>(b.size());
  if (std::abs(na - nb) > limit) return limit + 1;
  const std::size_t width = b.size() + 1;
  std::vector<int> before(width), previous(width), row(width);
  for (std::size_t j = 0; j < width; ++j) previous[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    int best = row[0];
    for (std::size_t j = 1; j < width; ++j) {
      const int cost = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
      best = std::min(best, row[j]);
    }
    if (best > limit) return limit + 1;
    before.swap(previous);
    previous.swap(row);
  }
  return std::min(previous[b.size()], limit + 1);
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known) {
  const int limit = std::max(2, static_cast<int>(word.size()) / 3);
  int best = limit + 1;
  std::optional<std::string> out;
  for (const std::string& candidate : known) {
    const int distance = edit_distance(word, candidate, limit);
    if (distance < best) {
      best = distance;
      out = candidate;
    }
  }
  return out;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::optional<std::string> found = nearest(word, known);
  return found ? "did you mean '" + *found + "'?" : "";
}

}  // namespace kvfit::profiles
