// The engine's checks in its own order, as numbers: boot-fit (will it start?), then run-fit (will it stay up?).
//
// Source: vllm/v1/worker/utils.py request_memory; v1/core/kv_cache_utils.py _check_enough_kv_cache_memory; v1/worker/
// gpu_model_runner.py (max_num_seqs against Mamba blocks); the run check is kvfit's own.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/memory_model.h"
#include "planner/plan.h"
#include "planner/refusals.h"
#include "planner/settings.h"

namespace kvfit::planner {

struct StageNumbers {
  MemorySums sums;
  Bytes available, available_error;  ///< for the KV cache; may be negative
  Bytes checked;                     ///< available as the one-request check sees it (null block left out where it is)
  Bytes needed;                      ///< of one request of max_model_len
  Bytes profiling_cache;             ///< throw-away KV cache while graphs are estimated; 0 = none
};

struct Numbers {
  Settings settings;
  std::int64_t experts = 0;
  Bytes total, total_error;
  Bytes free_at_start;  ///< before the engine's communicators
  Bytes free_error;     ///< beside the total's own uncertainty
  Bytes requested;
  bool start_checked = true;     ///< this version compares free memory with `requested` before anything else
  std::vector<Refusal> refused;  ///< before anything is loaded
  std::vector<StageNumbers> stages;
  KvCapacity kv;                     ///< of the stage with the fewest blocks
  std::int64_t blocks_override = 0;  ///< --num-gpu-blocks-override; 0 = none
  std::int64_t sequence_limit = 0;   ///< most sequences the state blocks allow; 0 = no such limit
  std::int64_t batch_at_least = 0;   ///< smallest max_num_batched_tokens the cache mode accepts; 0 = any
  std::int64_t length_limit = 0;     ///< longest max_model_len the model's config allows; 0 = not known
};

/// Need, have, error and verdict of every check, errors scaled by `bar`; sentences are left empty.
std::vector<Check> make_checks(const Numbers& numbers, double bar);

/// Fills the sentences: what the engine prints or does.
void describe(std::vector<Check>& checks, const Numbers& numbers);

}  // namespace kvfit::planner
