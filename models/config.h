// A config.json seen as one map of facts: its text model's keys, with the family's defaults behind them. Knows other
// spellings of a key, checks ranges and says what is missing.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/family.h"
#include "profiles/document.h"
#include "profiles/dtype.h"

namespace kvfit::models {

using Keys = std::initializer_list<std::string_view>;  ///< spellings of one fact, preferred first

struct Range {
  std::int64_t lo = 1, hi = 1;
};
inline constexpr Range kLayers{1, 2048};
inline constexpr Range kHeads{1, 1 << 14};
inline constexpr Range kWidth{1, 1 << 20};
inline constexpr Range kWidthOrNone{0, 1 << 20};
inline constexpr Range kVocab{1, std::int64_t{1} << 28};
inline constexpr Range kExperts{0, 1 << 16};
inline constexpr Range kPositions{1, std::int64_t{1} << 36};
inline constexpr Range kPositionsOrNone{0, std::int64_t{1} << 36};
inline constexpr Range kSmall{0, 4096};

class Config {
 public:
  Config(const profiles::Node& root, const profiles::Node& text, const Family& family)
      : root_(root), text_(text), family_(family) {}

  const profiles::Node& root() const { return root_; }
  const profiles::Node& text() const { return text_; }
  const Family& family() const { return family_; }

  /// The first spelling present and not null in the text model, else nullptr. "a.b" looks into a map.
  const profiles::Node* find(Keys keys) const;
  bool has(Keys keys) const { return find(keys) != nullptr; }

  /// The config's value, else the family's default, else Error "missing key".
  std::int64_t need(Keys keys, Range range) const;
  /// ... else `fallback`.
  std::int64_t get(Keys keys, std::int64_t fallback, Range range) const;
  /// A list's element for layer `index` where the key holds one number a layer, else the number itself.
  std::int64_t of_layer(Keys keys, int index, std::int64_t fallback, Range range) const;
  double real(Keys keys, double fallback) const;
  bool flag(Keys keys, bool fallback) const;
  std::string word(Keys keys, std::string fallback) const;
  /// A list's words or numbers; empty when absent.
  std::vector<std::string> words(Keys keys) const;
  std::vector<std::int64_t> integers(Keys keys, Range range) const;

  /// Something the config does not say and the reader had to assume; ends in Model::missing.
  void assume(std::string what) const;
  const std::vector<std::string>& assumed() const { return assumed_; }

 private:
  std::optional<double> fallback(Keys keys) const;

  const profiles::Node& root_;
  const profiles::Node& text_;
  const Family& family_;
  mutable std::vector<std::string> assumed_;  // reading is const; what it could not find is noted here
};

}  // namespace kvfit::models
