// Serving with every default filled in as the engine's version would for this GPU and model: nothing optional is left.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/question.h"

namespace kvfit::planner {

enum class Runner { v1, v2 };
enum class MambaMode { none, align, all };

struct Settings {
  std::int64_t max_model_len = 0, max_num_seqs = 0, max_num_batched_tokens = 0;
  double gpu_memory_utilization = 0;
  std::string kv_cache_dtype;    ///< resolved: "bf16", "fp8_e4m3", "fp8_ds_mla", "nvfp4", "int8_per_token_head" ...
  std::int64_t block_size = 16;  ///< of attention before any hybrid alignment
  bool prefix_caching = true;
  MambaMode mamba_mode = MambaMode::none;
  profiles::DType state_dtype = profiles::DType::bf16;  ///< recurrent state
  Runner runner = Runner::v1;
  bool runner_sure = true;  ///< false: version and family leave it open; bars widen
  bool async_scheduling = true;
  std::int64_t in_flight_tokens = 0;  ///< F of the sliding-window formula
  bool eager = false;
  std::vector<std::int64_t> capture_sizes;  ///< piecewise
  std::int64_t full_capture_sizes = 0;      ///< how many of them are captured as FULL graphs too
  bool graph_estimate_applied = false;
  int speculative_tokens = 0;
  std::string speculative_method;
  bool vision = false;  ///< the tower is loaded
  std::string attention_backend;
  std::int64_t tp = 1, pp = 1, dp = 1, dcp = 1;
  std::int64_t expert_parallel = 1;               ///< 1 = experts are tensor-sharded
  profiles::DType dtype = profiles::DType::bf16;  ///< compute
};

/// Traits for rule rows: version era apart, everything a `when:` may ask (runner, moe, mla, hybrid, sparse, sliding, quant,
/// capability, tp, pp, link, unified, system, eager, vision, speculative ...). See planner/traits.cc for the list.
Traits traits_of(const Question& question);

Settings resolve_settings(const Question& question, const Traits& traits);

}  // namespace kvfit::planner
