#include "planner/rank.h"

#include <cstddef>

#include "profiles/error.h"

namespace kvfit::planner {

std::vector<std::int64_t> layers_per_stage(std::int64_t layers, std::int64_t stages) {
  if (stages < 1 || layers < stages) {
    profiles::fail_input("cannot split the layers over the pipeline stages: each stage needs at least one layer");
  }
  std::vector<std::int64_t> out(static_cast<std::size_t>(stages), layers / stages);
  std::int64_t rest = layers % stages;
  for (std::int64_t stage = stages - 2; stage >= 0 && rest > 0; --stage, --rest) ++out[static_cast<std::size_t>(stage)];
  return out;
}

std::vector<Rank> distinct_ranks(const models::Model& model, const Settings& settings) {
  const std::vector<std::int64_t> counts = layers_per_stage(static_cast<std::int64_t>(model.layers.size()), settings.pp);
  std::vector<Rank> out;
  std::int64_t layer = 0;
  for (std::int64_t stage = 0; stage < settings.pp; ++stage) {
    const std::int64_t end = layer + counts[static_cast<std::size_t>(stage)];
    out.push_back({.global = static_cast<int>(stage * settings.tp),
                   .stage = stage,
                   .expert_rank = 0,
                   .first_layer = layer,
                   .end_layer = end,
                   .first_stage = stage == 0,
                   .last_stage = stage == settings.pp - 1});
    layer = end;
  }
  return out;
}

}  // namespace kvfit::planner
