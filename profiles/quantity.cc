#include "profiles/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

namespace kvfit::profiles {

// Leading number of the text and what follows it; nullopt when there is none.
std::optional<std::pair<double, std::string_view>> leading_number(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  const std::string digits(text.substr(0, end));
  if (digits.empty() || digits.front() == '.' || digits.back() == '.' || std::ranges::count(digits, '.') > 1) {
    return std::nullopt;
  }
  double value = 0;
  const std::from_chars_result read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc{}) return std::nullopt;
  return std::pair{value, end == std::string_view::npos ? std::string_view() : text.substr(end)};
}

std::optional<std::int64_t> whole_number(double value) {
  if (!(value >= 0 && value < 9e15) || value != std::floor(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> read_count(std::string_view text) {
  const auto read = leading_number(text);
  if (!read) return std::nullopt;
  constexpr std::array<std::pair<std::string_view, double>, 9> kSuffixes = {{{"", 1},
                                                                             {"k", 1e3},
                                                                             {"K", 0x1p10},
                                                                             {"m", 1e6},
                                                                             {"M", 0x1p20},
                                                                             {"g", 1e9},
                                                                             {"G", 0x1p30},
                                                                             {"t", 1e12},
                                                                             {"T", 0x1p40}}};
  for (const auto& [suffix, factor] : kSuffixes) {
    if (read->second == suffix) return whole_number(std::round(read->first * factor * 1e6) / 1e6);
  }
  return std::nullopt;
}

std::optional<Bytes> read_size(std::string_view text) {
  const auto read = leading_number(text);
  if (!read) return std::nullopt;
  if (read->second.empty() && !whole_number(read->first)) return std::nullopt;  // "1.5" of what?
  constexpr std::array<std::pair<std::string_view, double>, 11> kSuffixes = {{{"", 1},
                                                                              {"B", 1},
                                                                              {"KiB", 0x1p10},
                                                                              {"MiB", 0x1p20},
                                                                              {"GiB", 0x1p30},
                                                                              {"TiB", 0x1p40},
                                                                              {"kB", 1e3},
                                                                              {"KB", 1e3},
                                                                              {"MB", 1e6},
                                                                              {"GB", 1e9},
                                                                              {"TB", 1e12}}};
  for (const auto& [suffix, factor] : kSuffixes) {
    if (read->second != suffix) continue;
    const std::optional<std::int64_t> bytes = whole_number(std::round(read->first * factor));
    return bytes ? std::optional(Bytes(*bytes)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace kvfit::profiles
