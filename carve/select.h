// From scores to the experts that stay, and what the choice hangs on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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

/// Experts named by hand.
struct ExpertIds {
  std::set<std::int32_t> everywhere;                                    ///< in all blocks
  std::map<std::string, std::set<std::int32_t>, std::less<>> by_block;  ///< by the name of a block (find_block())
  friend bool operator==(const ExpertIds&, const ExpertIds&) = default;
};

struct SelectOptions {
  std::int64_t keep = 0;
  std::int64_t groups = 1;  ///< keep / groups experts of each original group
  ExpertIds protect;        ///< never dropped
  ExpertIds drop;           ///< always dropped
};

/// Error when protect and drop contradict each other or the count, or name what is not there.
void check_ids(const Layout& layout, const SelectOptions& options);

/// Best scores first, lower number on ties; protected experts count as best and dropped ones as worst.
std::vector<Choice> select_experts(const Layout& layout, const ScoreReport& scores, const SelectOptions& options);

/// Spearman's rank correlation; ties by lower index, as the choice itself ranks.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);
/// The mean of both ranks in each block, best highest: for scores whose units cannot be compared.
ScoreReport rank_sum(const ScoreReport& a, const ScoreReport& b);
double coefficient_of_variation(const std::vector<double>& values);

}  // namespace kvfit::carve
