#include "tests/accuracy/spelling.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "tests/accuracy/releases.h"

namespace kvfit::accuracy {

namespace {

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool all_digits(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

/// The number of a word such as "3", "k=3", "n=4", "n5", "x4"; nullopt for others.
std::optional<std::int64_t> token_count(std::string_view word) {
  std::string_view digits = word;
  while (!digits.empty() &&
         (digits.front() == 'k' || digits.front() == 'n' || digits.front() == 'x' || digits.front() == '='))
    digits.remove_prefix(1);
  if (!all_digits(digits) || digits.size() > 3) return std::nullopt;
  return std::atoll(std::string(digits).c_str());
}

int month_of(std::string_view word) {
  constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                        "jul", "aug", "sep", "oct", "nov", "dec"};
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (word.size() >= 3 && word.substr(0, 3) == kMonths[i] && (word.size() == 3 || word.size() > 3))
      return static_cast<int>(i) + 1;
  }
  return 0;
}

/// The release that main of the middle of that month was about to become.
std::string release_of_month(int year, int month) {
  const int wanted = (year * 12 + month) * 31 + 15;
  for (const Release& release : kReleases) {
    if ((release.year * 12 + release.month) * 31 + release.day >= wanted) return release.version;
  }
  return std::end(kReleases)[-1].version;
}

/// Year and month, from "July 2025" or "2026-09".
std::optional<std::string> release_of_date(std::string_view text) {
  const std::vector<std::string> parts = words(text);
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const int month = month_of(parts[i]);
    if (month != 0 && all_digits(parts[i + 1]) && parts[i + 1].size() == 4)
      return release_of_month(std::atoi(parts[i + 1].c_str()), month);
    if (all_digits(parts[i]) && parts[i].size() == 4 && parts[i][0] == '2' && all_digits(parts[i + 1]) &&
        parts[i + 1].size() == 2)
      return release_of_month(std::atoi(parts[i].c_str()), std::atoi(parts[i + 1].c_str()));
  }
  return std::nullopt;
}

/// A word that starts like a release: "0.24.0", "v0.20", "0.9.x", "0.26.1rc1.dev608+g99a".
std::optional<std::string> release_word(std::string_view word) {
  if (!word.empty() && (word.front() == 'v' || word.front() == 'V')) word.remove_prefix(1);
  if (word.size() < 3 || word.substr(0, 2) != "0." || !is_digit(word[2])) return std::nullopt;
  return std::string(word);
}

}  // namespace

std::vector<std::string> words(std::string_view text, std::string_view keep) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : lower(text) + " ") {
    if (is_alnum(c) || keep.find(c) != std::string_view::npos) {
      word += c;
    } else if (!word.empty()) {
      out.push_back(word);
      word.clear();
    }
  }
  return out;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

CacheTypes read_cache_types(std::string_view text) {
  CacheTypes types;
  for (const std::string& word : words(text, "_")) {
    const bool sixteen = word == "bf16" || word == "bfloat16" || word == "fp16" || word == "float16" || word == "half";
    if (word == "ssm" || word == "state") {
      types.state = types.kv == std::nullopt ? Text("auto") : types.state;
    } else if (sixteen && types.kv && *types.kv != "auto") {
      types.state = word == "fp16" || word == "half" ? "float16" : word == "bf16" ? "bfloat16" : word;
    } else if (sixteen) {
      types.kv = "bfloat16";
    } else if (!types.kv && (word == "auto" || contains(word, "fp8") || contains(word, "int8") || contains(word, "int4") ||
                             contains(word, "fp4") || contains(word, "turboquant"))) {
      types.kv = word;
    }
  }
  return types;
}

std::optional<Speculation> read_speculation(std::string_view text) {
  const std::string all = lower(text);
  if (all.empty() || all == "none" || all == "off" || all == "false" || all == "0") return std::nullopt;
  Speculation out;
  if (contains(all, "dflash") || contains(all, "dspark") || contains(all, "external") || contains(all, "draft model") ||
      contains(all, "draft_model")) {
    out.method = "draft_model";
    out.drafter_known = false;
  } else if (contains(all, "mtp")) {
    out.method = "mtp";
  } else if (contains(all, "eagle3") || contains(all, "eagle-3")) {
    out.method = "eagle3";
    out.drafter_known = false;
  } else if (contains(all, "eagle")) {
    out.method = "eagle";
    out.drafter_known = false;
  } else if (contains(all, "ngram") || contains(all, "n-gram")) {
    out.method = "ngram";
  } else if (contains(all, "suffix")) {
    out.method = "suffix";
  } else {
    out.method = "unknown";
    out.drafter_known = false;
  }
  for (const std::string& word : words(text, "=.~")) {
    if (const std::optional<std::int64_t> count = token_count(word); count && *count > 0) out.tokens = count;
  }
  return out;
}

VersionText read_version(std::string_view text) {
  VersionText out;
  const std::string all = lower(text);
  out.patched = contains(all, "patched") || contains(all, " + ") || contains(all, "fork") || contains(all, "/vllm") ||
                contains(all, "-radiance") || contains(all, "0.1.dev");
  if (contains(all, "-radiance") || contains(all, "0.1.dev")) return out;  // numbered on their own
  for (const std::string& word : words(all, ".+~>=<_")) {
    std::string_view bare = word;
    bool loose = false;
    while (!bare.empty() && (bare.front() == '~' || bare.front() == '>' || bare.front() == '=' || bare.front() == '<')) {
      bare.remove_prefix(1);
      loose = true;
    }
    std::optional<std::string> release = release_word(bare);
    if (!release) continue;
    if (release->ends_with('+')) {
      release->pop_back();
      loose = true;
    }
    if (release->ends_with(".x")) {
      release->resize(release->size() - 2);
      loose = true;
    }
    out.release = *release;
    out.basis = loose ? VersionText::Basis::range : VersionText::Basis::exact;
    return out;
  }
  if (std::optional<std::string> dated = release_of_date(all)) {
    out.release = *dated;
    out.basis = VersionText::Basis::date;
  }
  return out;
}

std::string read_engine_name(std::string_view text) {
  const std::vector<std::string> parts = words(text, "._-");
  return parts.empty() ? std::string() : parts.front();
}

}  // namespace kvfit::accuracy
