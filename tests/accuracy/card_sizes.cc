#include "tests/accuracy/card_sizes.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/accuracy/spelling.h"

namespace kvfit::accuracy {

namespace {

/// A card by the words that name it, and the GiB of its data sheet.
struct Sheet {
  std::string_view words;
  double gib;
};

constexpr Sheet kOtherMakers[] = {{"mi100", 32},   {"mi210", 64},   {"mi250", 64},   {"mi250x", 64},  {"mi300a", 128},
                                  {"mi300x", 192}, {"mi325x", 256}, {"mi350x", 288}, {"mi355x", 288}, {"r9700", 32},
                                  {"w7900", 48},   {"b60", 24},     {"b70", 32},     {"a770", 16},    {"b580", 12}};

// Of two that fit, the one with more words: "4070 ti" is not a 4070.
constexpr Sheet kSheets[] = {
    {"h800", 80},
    {"a800", 80},
    {"h20 3e", 141},
    {"l40", 48},
    {"l20", 48},
    {"l2", 24},
    {"a30", 24},
    {"a16", 16},
    {"a2", 16},
    {"a2000", 12},
    {"a4000", 16},
    {"a4500", 20},
    {"a5500", 24},
    {"2000 ada", 16},
    {"4000 ada", 20},
    {"4500 ada", 24},
    {"5000 ada", 32},
    {"5880 ada", 48},
    {"pro 2000", 16},
    {"p4", 8},
    {"p40", 24},
    {"p100", 16},
    {"m40", 24},
    {"titan rtx", 24},
    {"titan v", 12},
    {"quadro 8000", 48},
    {"quadro 6000", 24},
    {"quadro 5000", 16},
    {"1080 ti", 11},
    {"1080", 8},
    {"1070", 8},
    {"1660", 6},
    {"2060", 6},
    {"2070", 8},
    {"2070 super", 8},
    {"2080", 8},
    {"2080 super", 8},
    {"3050", 8},
    {"3060 ti", 8},
    {"3060 laptop", 6},
    {"3070", 8},
    {"3070 ti", 8},
    {"3070 laptop", 8},
    {"3080 ti", 12},
    {"4050 laptop", 6},
    {"4060 laptop", 8},
    {"4070", 12},
    {"4070 super", 12},
    {"4070 ti", 12},
    {"4070 laptop", 8},
    {"4080 super", 16},
    {"4080 laptop", 12},
    {"4090 laptop", 16},
    {"5050", 8},
    {"5060", 8},
    {"5060 laptop", 8},
    {"5070", 12},
    {"5070 laptop", 8},
    {"5070 ti laptop", 12},
    {"5090 laptop", 24},
    {"orin nano", 8},
    {"orin nx", 16},
    {"agx orin", 64},
    {"agx xavier", 32},
    {"7900 xtx", 24},
    {"7900 xt", 20},
    {"9070", 16},
    {"9070 xt", 16},
    {"6900 xt", 16},
    {"6800 xt", 16},
};

bool all_present(const std::vector<std::string>& text, const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&text](const std::string& word) { return std::find(text.begin(), text.end(), word) != text.end(); });
}

bool digits(std::string_view word) {
  return !word.empty() && word.size() <= 3 &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool other_makers(std::string_view word) {
  return std::any_of(std::begin(kOtherMakers), std::end(kOtherMakers), [word](const Sheet& s) { return s.words == word; });
}

std::optional<double> memory_in_name(std::string_view text) {
  const std::vector<std::string> list = words(text);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string& word = list[i];
    const std::size_t end = std::min(word.find_first_not_of("0123456789"), word.size());
    const std::string unit = end < word.size() || i + 1 == list.size() ? word.substr(end) : list[i + 1];
    const bool gigabytes = unit == "gb" || unit == "gib" || (unit == "g" && end < word.size());
    if (gigabytes && digits(std::string_view(word).substr(0, end))) return std::atof(word.c_str());
  }
  return std::nullopt;
}

std::optional<double> memory_of_model(std::string_view text) {
  const std::vector<std::string> list = words(text);
  const Sheet* best = nullptr;
  std::size_t most = 0;
  const auto look = [&](const Sheet& sheet) {
    const std::vector<std::string> wanted = words(sheet.words);
    if (wanted.size() <= most || !all_present(list, wanted)) return;
    best = &sheet;
    most = wanted.size();
  };
  for (const Sheet& sheet : kOtherMakers) look(sheet);
  for (const Sheet& sheet : kSheets) look(sheet);
  return best != nullptr ? std::optional<double>(best->gib) : std::nullopt;
}

}  // namespace kvfit::accuracy
