// From scores to the experts that stay, and what the choice hangs on.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "carve/layout.h"
#include "carve/score.h"

namespace kvfit::carve {

struct Choice {
  std::vector<std::int32_t> kept;               ///< ascending; kept[new number] = old number
  double cut_gap = 0;                           ///< (worst kept - best dropped) / |worst kept|; 0 when nothing is dropped
  bool near_tie = false;                        ///< the gap is below 1e-9
  double router_spread = 0, weight_spread = 0;  ///< coefficient of variation of each factor
  double router_correlation = 0;  ///< Spearman's rank correlation of the score with the router norm; 0 when not computed
  double random_correlation = 0;  ///< the same with the random control
};

struct SelectOptions {
  std::int64_t keep = 0;
  std::int64_t groups = 1;         ///< keep / groups experts of each original group
  std::set<std::int32_t> protect;  ///< never dropped, in any block
  std::set<std::int32_t> drop;     ///< always dropped
};

/// Best scores first, lower number on ties; protected experts count as best and dropped ones as worst. Error when protect
/// and drop contradict each other or the count.
std::vector<Choice> select_experts(const Layout& layout, const ScoreReport& scores, const SelectOptions& options);

/// Spearman's rank correlation; ties by lower index, as the choice itself ranks.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);
double coefficient_of_variation(const std::vector<double>& values);

}  // namespace kvfit::carve
