// The question: which machine, which model, which engine, how it is served, and what may vary to make it fit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hardware/gate_rules.h"
#include "hardware/node.h"
#include "models/model.h"
#include "models/tensor_inventory.h"
#include "planner/correction.h"
#include "planner/rules.h"

namespace kvfit::planner {

/// --speculative-config
struct Speculative {
  std::string method;  ///< "mtp", "eagle3", "eagle", "draft_model", "ngram", "suffix", ...
  int tokens = 0;      ///< num_speculative_tokens
  std::shared_ptr<const models::Model>
      draft;  ///< a separate checkpoint; null = layers inside the model (MTP) or none (n-gram)
  std::shared_ptr<const models::TensorInventory> draft_inventory;
};

/// vLLM's own names and units; an empty optional means the engine's default for that version and GPU.
struct Serving {
  std::optional<std::int64_t> max_model_len;  ///< tokens; -1 = auto
  std::optional<std::int64_t> max_num_seqs;
  std::optional<std::int64_t> max_num_batched_tokens;
  std::optional<double> gpu_memory_utilization;
  std::optional<profiles::Bytes> kv_cache_memory_bytes;
  std::optional<std::int64_t> num_gpu_blocks_override;
  std::string kv_cache_dtype = "auto";
  std::optional<std::int64_t> block_size;
  std::optional<bool> enable_prefix_caching;
  std::optional<bool> enable_chunked_prefill;
  std::optional<bool> async_scheduling;
  std::optional<bool> enforce_eager;
  std::optional<std::int64_t> max_cudagraph_capture_size;
  std::vector<std::int64_t> cudagraph_capture_sizes;
  std::string cudagraph_mode;    ///< "" = default
  std::string mamba_cache_mode;  ///< "", "none", "align", "all"
  std::string mamba_ssm_cache_dtype = "auto";
  std::string attention_backend;  ///< "" = engine's choice
  std::string moe_backend;
  std::string dtype = "auto";
  std::string quantization;  ///< --quantization; "" = as the checkpoint says
  std::int64_t tensor_parallel_size = 1;
  std::int64_t pipeline_parallel_size = 1;
  std::int64_t data_parallel_size = 1;
  std::int64_t decode_context_parallel_size = 1;
  bool enable_expert_parallel = false;
  std::int64_t num_redundant_experts = 0;
  bool enable_eplb = false;
  std::optional<bool> language_model_only;  ///< vision tower not loaded; also when every limit_mm is 0
  bool skip_mm_profiling = false;
  std::optional<Speculative> speculative;
  bool enable_lora = false;
  std::int64_t max_loras = 1, max_lora_rank = 16;
  double cpu_offload_gb = 0;  ///< GiB per GPU
  bool enable_sleep_mode = false;
  bool disable_hybrid_kv_cache_manager = false;
  std::optional<bool> v2_model_runner;
  std::optional<bool> estimate_cuda_graphs;  ///< VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS
  std::string performance_mode;
};

/// What the search may change, with bounds. A bound with low == high is fixed.
struct Search {
  bool experts = false;  ///< try smaller expert counts
  std::int64_t experts_step = 32;
  std::int64_t experts_min = 0;    ///< 0 = the hard rules decide
  std::int64_t experts_fixed = 0;  ///< a carve to exactly so many; 0 = the model's own count
  std::vector<std::int64_t>
      contexts;  ///< rungs of max_model_len, ascending; empty = the engine's powers of two up to the limit
  std::int64_t sequences_min = 1;
  bool context = false, sequences = false;  ///< may be lowered
  std::string prefer = "experts,context,sequences";
};

/// Which error bar decides `tight`: 0.5, 0.9 or 0.95 two-sided coverage.
enum class Confidence { half, ninety, ninety_five };

struct Question {
  std::vector<Correction> corrections;  ///< learnt from boots of this machine, model and engine (kvfit calibrate)
  hardware::Node node;
  models::Model model;
  std::shared_ptr<const models::TensorInventory> inventory;  ///< of `model` as it is (before any carve)
  std::shared_ptr<const Rules> rules;
  std::shared_ptr<const hardware::GateRules> gates;  ///< null = no gate is judged
  Serving serving;
  Search search;
  Confidence confidence = Confidence::ninety;
  bool allow_fallback = false;  ///< --allow-fallback: formats the policy refuses
};

}  // namespace kvfit::planner
