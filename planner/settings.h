// Serving with every default filled in as the engine's version would for this GPU and model: nothing optional is left.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/question.h"

namespace kvfit::planner {

enum class Runner { v1, v2 };
enum class MambaMode { none, align, all };
std::string_view mamba_mode_name(MambaMode mode);  ///< "none", "align", "all"

struct Settings {
  std::int64_t max_model_len = 0, max_num_seqs = 0, max_num_batched_tokens = 0;
  bool auto_max_model_len = false;  ///< --max-model-len auto: max_model_len is the model's own limit, to be reduced to fit
  double gpu_memory_utilization = 0;
  std::string
      kv_cache_dtype;  ///< resolved: "bf16", "fp16", "f32", "fp8_e4m3", "fp8_ds_mla", "nvfp4", "int8_per_token_head" ...
  std::int64_t block_size = 16;  ///< of attention before any hybrid alignment
  bool block_size_stated = false;
  bool prefix_caching = true;
  MambaMode mamba_mode = MambaMode::none;
  profiles::DType state_dtype = profiles::DType::bf16;  ///< recurrent state
  Runner runner = Runner::v1;
  bool runner_sure = true;  ///< false: version and family leave it open; bars widen
  bool async_scheduling = true;
  bool chunked_prefill = true;
  std::int64_t in_flight_tokens = 0;  ///< F of the sliding-window formula
  bool eager = false;
  std::vector<std::int64_t> capture_sizes;  ///< piecewise
  std::int64_t full_capture_sizes = 0;      ///< how many of them are captured as FULL graphs too
  bool graph_estimate_applied = false;
  int speculative_tokens = 0;
  std::string speculative_method;
  bool vision = false;  ///< the tower is loaded
  std::string attention_backend;
  bool hybrid_kv_manager = true;  ///< false: sliding and chunked layers are kept as full ones
  std::int64_t tp = 1, pp = 1, dp = 1, dcp = 1;
  std::int64_t expert_parallel = 1;               ///< 1 = experts are tensor-sharded
  profiles::DType dtype = profiles::DType::bf16;  ///< compute
};

/// Traits for rule rows, settings included: everything a `when:` may ask (traits.h lists the names).
Traits traits_of(const Question& question);

/// `traits` as stated_traits or traits_of gives them. Throws Error when values contradict each other (zero sequences, a
/// block size that is not a multiple of 16, an unknown KV dtype ...).
Settings resolve_settings(const Question& question, const Traits& stated);

/// Sizes at which CUDA graphs are captured for these settings, ascending; table capture_sizes.
std::vector<std::int64_t> capture_sizes(const Settings& settings, const Serving& serving, const Rules& rules,
                                        const Traits& traits);

}  // namespace kvfit::planner
