// Counts and sizes as people write them: "32K", "1.5GiB". Nothing throws: what cannot be read is nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "profiles/units.h"

namespace kvfit::profiles {

/// "32k" -> 32000, "32K" -> 32768, "8192", "1.5m"; nullopt when it is no count (as vLLM's human-readable integers).
std::optional<std::int64_t> read_count(std::string_view text);

/// "1.5GiB", "512MiB", "2GB", "1024" (bytes); nullopt when it is no size, as a fraction without a unit.
std::optional<Bytes> read_size(std::string_view text);

/// Leading number of the text and what follows it; nullopt when there is none.
std::optional<std::pair<double, std::string_view>> leading_number(std::string_view text);

/// The value as an integer, when it is one and below 9e15.
std::optional<std::int64_t> whole_number(double value);

}  // namespace kvfit::profiles
