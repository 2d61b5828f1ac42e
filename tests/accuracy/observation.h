// One public boot, as its row states it: machine, model, engine, arguments and what the log printed. The four shapes of
// row files are read into this one value (rows.h); nothing downstream knows which shape a row had, and nothing reads its id.
//
// Optional = the row does not say. Sizes are GiB as printed (`Printed` keeps how many decimals, so that "to print rounding"
// has a meaning), counts are whole numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kvfit::accuracy {

using Count = std::optional<std::int64_t>;
using Text = std::optional<std::string>;

/// A printed decimal: half a unit of its last digit is what rounding can hide.
struct Printed {
  double value = 0;
  double half_step = 0;  ///< 0.005 for "4.99"
  double low() const { return value - half_step; }
  double high() const { return value + half_step; }
};
using Size = std::optional<Printed>;

/// How the start ended.
enum class Outcome {
  good,          ///< the KV pool was sized and nothing failed
  free_memory,   ///< less free than utilisation x total
  no_blocks,     ///< no memory left for the cache
  kv_too_small,  ///< the pool holds less than one request of max_model_len
  mamba_blocks,  ///< more sequences than state blocks
  oom,           ///< CUDA out of memory in loading, capture, warm-up or the first requests
  kernel,        ///< no kernel for this format on this card
  aside,         ///< not a matter of GPU memory (host RAM, time-out)
  unstated,
};
std::string outcome_name(Outcome outcome);

struct Speculation {
  std::string method;  ///< "mtp", "eagle3", "ngram", "draft_model"
  std::optional<std::int64_t> tokens;
  bool drafter_known = true;  ///< false: a separate drafter whose layers the row does not give
};

/// The arguments as vLLM spells them.
struct Arguments {
  Count max_model_len, max_num_seqs, max_num_batched_tokens, block_size, max_cudagraph_capture_size;
  std::vector<std::int64_t> cudagraph_capture_sizes;
  std::optional<double> gpu_memory_utilization, cpu_offload_gb;
  Count kv_cache_memory_bytes, num_gpu_blocks_override, max_loras, max_lora_rank, num_redundant_experts;
  Text kv_cache_dtype;  ///< as planner::Serving spells it: "auto", "bfloat16", "fp8", "fp8_e4m3", "fp8_ds_mla", ...
  Text dtype, mamba_cache_mode, mamba_ssm_cache_dtype, moe_backend, attention_backend;
  std::optional<bool> enable_prefix_caching, enforce_eager, async_scheduling, language_model_only, enable_lora;
  bool enable_sleep_mode = false, enable_eplb = false, skip_mm_profiling = false, disable_hybrid_kv_cache_manager = false;
  bool enable_expert_parallel = false;
  std::optional<Speculation> speculative;
  std::vector<std::string> unknown;  ///< arguments the row names without a value: not the default, but not known
  std::vector<std::string> unread;   ///< arguments this tool does not know, as "key=value"
};

struct Measured {
  Size weights, available_kv, graphs, graphs_estimated, activation, non_torch, consumed, needed_kv;
  Size free_at_start, requested;
  Count kv_tokens, at_len, num_gpu_blocks, estimated_max_len, attention_block, mamba_blocks;
  Size concurrency;
};

/// One layer class of a row that gives the cache layout instead of a model.
struct CacheLayer {
  std::string kind;  ///< "full", "sliding_window", "chunked_local", "mamba"
  std::int64_t layers = 0, page_bytes = 0, bytes_per_token = 0, block_size = 0, window = 0, chunk = 0,
               speculative_blocks = 0;
  std::string mode;  ///< of mamba: "none", "align", "all"
};

/// The layout such a row states, with what the formulas must reproduce.
struct CacheLayout {
  std::vector<CacheLayer> layers;
  std::int64_t groups = 0, group_size = 0, bytes_per_block = 0, blocks_per_request = 0;
  Count in_flight_tokens;
  bool inferred = false;  ///< one parameter was chosen to fit
  std::string formulas;   ///< version whose formulas apply, "0.10.2"; empty = not given
};

struct Observation {
  std::string id, source, file;
  int line = 0;
  std::string shape;                        ///< "boot", "layout", "bench", "engine"
  std::string engine;                       ///< "vllm", "sglang", "llama.cpp", ...
  Text engine_version;                      ///< as written
  Text gpu;                                 ///< as written
  Text gpu_hint;                            ///< never priced with; tells the vendor apart
  std::optional<double> total_gib;          ///< total as CUDA printed it, or a nominal size
  bool total_printed = false;               ///< with decimals: the log's figure, not a data sheet's
  std::optional<double> nvml_mib;           ///< nvidia-smi memory.total of the smallest card
  std::optional<std::string> smallest_gpu;  ///< of a mixed pair: the card with less memory
  Count gpu_count, tp, pp, dp, dcp;
  Text model, quant;
  std::optional<bool> vision;
  Arguments arguments;
  Measured measured;
  std::optional<CacheLayout> layout;
  Outcome outcome = Outcome::unstated;
  bool from_sweep = false;  ///< one of the published H100 sweep (for reporting groups only)
};

}  // namespace kvfit::accuracy
