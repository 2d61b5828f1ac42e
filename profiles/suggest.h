// "did you mean": the nearest known name by edit distance (Damerau-Levenshtein, restricted).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kvfit::profiles {

/// Edit distance, stops counting above `limit` (returns limit + 1).
int edit_distance(std::string_view a, std::string_view b, int limit);

/// The nearest of `known` within a third of the word's length (at least 2 edits); ties go to the first.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known);

/// "did you mean 'x'?" or "" when nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace kvfit::profiles
