// Which part of a model one GPU holds: its pipeline stage's layers, its tensor slice, its share of the experts.
#pragma once

#include <cstdint>
#include <vector>

#include "models/model.h"
#include "planner/settings.h"

namespace kvfit::planner {

struct Rank {
  int global = 0;
  std::int64_t stage = 0;
  std::int64_t expert_rank = 0;                 ///< position among the ranks that share the experts
  std::int64_t first_layer = 0, end_layer = 0;  ///< trunk layers [first, end)
  bool first_stage = true, last_stage = true;
  bool holds(int layer) const { return layer >= first_layer && layer < end_layer; }
};

/// Layers of each pipeline stage: n / pp, the remainder one each to the stages before the last, from the back; where more
/// remain than that, from the front. Source: vllm/distributed/utils.py get_pp_indices.
std::vector<std::int64_t> layers_per_stage(std::int64_t layers, std::int64_t stages);

/// One rank for each pipeline stage (tensor slices of a stage are alike; the first expert rank holds the most experts).
std::vector<Rank> distinct_ranks(const models::Model& model, const Settings& settings);

/// Routed experts that live on `expert_rank` when `experts` (redundant ones included) are spread over `parallel` ranks.
constexpr std::int64_t local_experts(std::int64_t experts, std::int64_t parallel, std::int64_t expert_rank) {
  return experts / parallel + (expert_rank < experts % parallel ? 1 : 0);
}

}  // namespace kvfit::planner
