// What the engine refuses before it loads anything: shapes that do not divide over the ranks, a type that the device cannot
// compute in, arguments that contradict each other.
//
// Source: vllm/model_executor/models (total_num_heads and total_num_kv_heads against tp_size), layers/quantization/fp8.py
// (block_n, block_k), config/scheduler.py, config/model.py (_FLOAT16_NOT_SUPPORTED_MODELS, expert parallelism),
// platforms/cuda.py check_if_supports_dtype; which types are refused where is table `dtype_refused` of the engine's profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/question.h"
#include "planner/settings.h"
#include "planner/traits.h"

namespace kvfit::planner {

struct Refusal {
  std::string id;  ///< of the check: "heads", "kv_heads", "expert_blocks", "batch", "expert_parallel", "context_parallel",
                   ///< "dtype", "quantization", "architecture"
  std::int64_t need = 0;  ///< the least that would do; more than `have`
  std::int64_t have = 0;
  std::string text, remedy;  ///< sentences without a full stop
};

/// In the order in which the engine looks; empty when it takes the arguments.
std::vector<Refusal> refusals(const Question& question, const Settings& settings, const Traits& traits);

}  // namespace kvfit::planner
