// Collects format rules while a quantisation block is read: shortens names, folds layer numbers, keeps exemptions first.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/quantization.h"
#include "profiles/document.h"

namespace kvfit::models {

class RuleList {
 public:
  /// A name or pattern as lists write it: "re:..." is a regular expression, one with * or ? a glob, else `otherwise`.
  void exempt(const profiles::Node& pattern, FormatRule::Match otherwise);
  void assign(const profiles::Node& pattern, FormatRule::Match otherwise, const WeightFormat& format);
  void exempt(std::string_view pattern, FormatRule::Match match);
  void assign(std::string_view pattern, FormatRule::Match match, const WeightFormat& format);
  /// A regular expression that stands as a key; errors point at its value.
  void add_regex_text(const std::string& pattern, const profiles::Node& value, bool exempt, const WeightFormat& format);
  void exempt_all(const profiles::Node* list, FormatRule::Match otherwise);
  bool exempts_anything() const { return !exemptions_.empty(); }

  /// Exemptions, then assignments, each in the order given.
  std::vector<FormatRule> take();

 private:
  void add(std::vector<FormatRule>& rules, std::string_view pattern, FormatRule::Match match, bool exempt,
           const WeightFormat& format);

  std::vector<FormatRule> exemptions_;
  std::vector<FormatRule> assignments_;
  std::unordered_map<std::string, std::size_t> known_;  ///< rule key -> index
};

}  // namespace kvfit::models
