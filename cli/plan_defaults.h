// kvfit's own defaults, from profiles/defaults/plan.yaml: what a plan takes when neither the user nor the engine says.
#pragma once

#include <cstdint>
#include <string>

#include "profiles/catalog.h"

namespace kvfit::cli {

struct PlanDefaults {
  std::string engine, engine_version;
  double gpu_memory_utilization = 0;
  std::string model;  ///< catalogue id
  // Only together with the default model:
  std::string kv_cache_dtype;
  std::int64_t max_num_seqs = 0;
  bool vision = true;
};

/// Throws Error with place when the profile lacks a key or holds one that is not known.
PlanDefaults plan_defaults(const profiles::Catalog& catalog);

}  // namespace kvfit::cli
