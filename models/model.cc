#include "models/model.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::fail_input;
using profiles::format;

// The hard rules of a carve: more experts than the router picks, whole groups, and the fused kernels' multiple of four.
void check_carve(const Moe& moe, std::int64_t experts) {
  if (experts == moe.experts) return;
  const std::int64_t step = std::lcm<std::int64_t>(4, std::max<std::int64_t>(moe.groups, 1));
  const std::string counts = format("from {} to {}, in steps of {}", (moe.top_k / step + 1) * step, moe.experts, step);
  if (experts > moe.experts) fail_input(format("cannot keep {} of {} experts", experts, moe.experts), {}, counts);
  if (experts <= moe.top_k) {
    fail_input(format("{} experts are too few: the router picks {} a token", experts, moe.top_k), {}, counts);
  }
  if (moe.groups > 1 && experts % moe.groups != 0) {
    fail_input(format("{} experts do not divide into the router's {} groups", experts, moe.groups), {}, counts);
  }
  if (experts % 4 != 0) fail_input(format("{} experts: the count must be a multiple of 4", experts), {}, counts);
}

}  // namespace

std::int64_t expert_count(const Model& model) {
  for (const Layer& layer : model.layers) {
    if (layer.moe) return layer.moe->experts;
  }
  return 0;
}

Model with_experts(const Model& model, std::int64_t experts) {
  Model out = model;
  if (expert_count(model) == 0) fail_input("this model has no routed experts to carve");
  const auto carve = [experts](std::vector<Layer>& layers) {
    for (Layer& layer : layers) {
      if (!layer.moe) continue;
      if (experts != layer.moe->experts) check_carve(*layer.moe, experts);
      layer.moe->experts = experts;
    }
  };
  carve(out.layers);
  if (out.draft) carve(out.draft->layers);
  return out;
}

}  // namespace kvfit::models
