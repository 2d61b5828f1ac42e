#include "runtime/log_settings.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/spelling.h"
#include "runtime/deployment_serving.h"
#include "runtime/serve_call.h"

namespace kvfit::runtime {
namespace {

using planner::Serving;

// Settings by the flags that state them: those that were stated are copied, all else is left as it was.
struct Copied {
  std::string_view flag;
  void (*copy)(const Serving& from, Serving& to);
};

constexpr std::array kCopied = {
    Copied{"max-model-len", [](const Serving& from, Serving& to) { to.max_model_len = from.max_model_len; }},
    Copied{"max-num-seqs", [](const Serving& from, Serving& to) { to.max_num_seqs = from.max_num_seqs; }},
    Copied{"max-num-batched-tokens",
           [](const Serving& from, Serving& to) { to.max_num_batched_tokens = from.max_num_batched_tokens; }},
    Copied{"gpu-memory-utilization",
           [](const Serving& from, Serving& to) { to.gpu_memory_utilization = from.gpu_memory_utilization; }},
    Copied{"kv-cache-memory-bytes",
           [](const Serving& from, Serving& to) { to.kv_cache_memory_bytes = from.kv_cache_memory_bytes; }},
    Copied{"num-gpu-blocks-override",
           [](const Serving& from, Serving& to) { to.num_gpu_blocks_override = from.num_gpu_blocks_override; }},
    Copied{"block-size", [](const Serving& from, Serving& to) { to.block_size = from.block_size; }},
    Copied{"tensor-parallel-size",
           [](const Serving& from, Serving& to) { to.tensor_parallel_size = from.tensor_parallel_size; }},
    Copied{"pipeline-parallel-size",
           [](const Serving& from, Serving& to) { to.pipeline_parallel_size = from.pipeline_parallel_size; }},
    Copied{"data-parallel-size", [](const Serving& from, Serving& to) { to.data_parallel_size = from.data_parallel_size; }},
    Copied{"decode-context-parallel-size",
           [](const Serving& from, Serving& to) { to.decode_context_parallel_size = from.decode_context_parallel_size; }},
    Copied{"enable-expert-parallel",
           [](const Serving& from, Serving& to) { to.enable_expert_parallel = from.enable_expert_parallel; }},
    Copied{"enable-eplb", [](const Serving& from, Serving& to) { to.enable_eplb = from.enable_eplb; }},
    Copied{"num-redundant-experts",
           [](const Serving& from, Serving& to) { to.num_redundant_experts = from.num_redundant_experts; }},
    Copied{"eplb-config", [](const Serving& from, Serving& to) { to.num_redundant_experts = from.num_redundant_experts; }},
    Copied{"kv-cache-dtype", [](const Serving& from, Serving& to) { to.kv_cache_dtype = from.kv_cache_dtype; }},
    Copied{"enable-prefix-caching",
           [](const Serving& from, Serving& to) { to.enable_prefix_caching = from.enable_prefix_caching; }},
    Copied{"mamba-cache-mode", [](const Serving& from, Serving& to) { to.mamba_cache_mode = from.mamba_cache_mode; }},
    Copied{"mamba-ssm-cache-dtype",
           [](const Serving& from, Serving& to) { to.mamba_ssm_cache_dtype = from.mamba_ssm_cache_dtype; }},
    Copied{
        "disable-hybrid-kv-cache-manager",
        [](const Serving& from, Serving& to) { to.disable_hybrid_kv_cache_manager = from.disable_hybrid_kv_cache_manager; }},
    Copied{"attention-backend", [](const Serving& from, Serving& to) { to.attention_backend = from.attention_backend; }},
    Copied{"moe-backend", [](const Serving& from, Serving& to) { to.moe_backend = from.moe_backend; }},
    Copied{"enforce-eager", [](const Serving& from, Serving& to) { to.enforce_eager = from.enforce_eager; }},
    Copied{"cudagraph-capture-sizes",
           [](const Serving& from, Serving& to) { to.cudagraph_capture_sizes = from.cudagraph_capture_sizes; }},
    Copied{"cuda-graph-sizes",
           [](const Serving& from, Serving& to) { to.cudagraph_capture_sizes = from.cudagraph_capture_sizes; }},
    Copied{"max-cudagraph-capture-size",
           [](const Serving& from, Serving& to) { to.max_cudagraph_capture_size = from.max_cudagraph_capture_size; }},
    Copied{"compilation-config",
           [](const Serving& from, Serving& to) {
             to.cudagraph_capture_sizes = from.cudagraph_capture_sizes;
             to.max_cudagraph_capture_size = from.max_cudagraph_capture_size;
             to.cudagraph_mode = from.cudagraph_mode;
             to.enforce_eager = from.enforce_eager;
           }},
    Copied{"limit-mm-per-prompt",
           [](const Serving& from, Serving& to) { to.language_model_only = from.language_model_only; }},
    Copied{"language-model-only",
           [](const Serving& from, Serving& to) { to.language_model_only = from.language_model_only; }},
    Copied{"skip-mm-profiling", [](const Serving& from, Serving& to) { to.skip_mm_profiling = from.skip_mm_profiling; }},
    Copied{"speculative-config", [](const Serving& from, Serving& to) { to.speculative = from.speculative; }},
    Copied{"enable-chunked-prefill",
           [](const Serving& from, Serving& to) { to.enable_chunked_prefill = from.enable_chunked_prefill; }},
    Copied{"async-scheduling", [](const Serving& from, Serving& to) { to.async_scheduling = from.async_scheduling; }},
    Copied{"dtype", [](const Serving& from, Serving& to) { to.dtype = from.dtype; }},
    Copied{"enable-lora", [](const Serving& from, Serving& to) { to.enable_lora = from.enable_lora; }},
    Copied{"max-loras", [](const Serving& from, Serving& to) { to.max_loras = from.max_loras; }},
    Copied{"max-lora-rank", [](const Serving& from, Serving& to) { to.max_lora_rank = from.max_lora_rank; }},
    Copied{"cpu-offload-gb", [](const Serving& from, Serving& to) { to.cpu_offload_gb = from.cpu_offload_gb; }},
    Copied{"enable-sleep-mode", [](const Serving& from, Serving& to) { to.enable_sleep_mode = from.enable_sleep_mode; }},
    Copied{"performance-mode", [](const Serving& from, Serving& to) { to.performance_mode = from.performance_mode; }},
};

std::optional<std::int64_t> length_of(const BootLog& log) {
  for (const std::optional<Logged<std::int64_t>>& stated :
       {log.auto_length, log.concurrency_length, log.refused_length, log.max_model_len}) {
    if (stated) return stated->value;
  }
  return std::nullopt;
}

// Requested memory over total, where the share itself was not printed: 75.23 of 79.19 GiB is 0.95.
std::optional<double> share_of(const BootLog& log) {
  if (log.utilization) return log.utilization->value;
  if (log.requested.empty() || log.total.empty()) return std::nullopt;
  const double share = log.requested.front().value / log.total.front().value;
  if (!(share > 0 && share <= 1)) return std::nullopt;
  const double slack = 0.01 / log.total.front().value;  // both are rounded to a hundredth
  for (const double step : {100.0, 1000.0, 10000.0}) {
    const double round = static_cast<double>(static_cast<std::int64_t>(share * step + 0.5)) / step;
    if (round - share <= slack && share - round <= slack) return round;
  }
  return share;
}

}  // namespace

planner::Serving settings_from_log(const BootLog& log, planner::Serving base) {
  const auto take = [](auto& slot, const auto& stated) {
    if (stated) slot = stated->value;
  };
  if (const std::optional<std::int64_t> length = length_of(log)) base.max_model_len = length;
  if (const std::optional<double> share = share_of(log)) base.gpu_memory_utilization = share;
  take(base.max_num_seqs, log.max_num_seqs);
  take(base.max_num_batched_tokens, log.max_num_batched_tokens);
  take(base.enable_prefix_caching, log.prefix_caching);
  take(base.enforce_eager, log.eager);
  take(base.kv_cache_dtype, log.kv_cache_dtype);
  if (log.quantization && profiles::lower(log.quantization->value) != "none") base.quantization = log.quantization->value;
  if (log.kv_format && base.kv_cache_dtype == "auto") base.kv_cache_dtype = log.kv_format->value;
  take(base.tensor_parallel_size, log.tensor_parallel_size);
  take(base.pipeline_parallel_size, log.pipeline_parallel_size);
  take(base.data_parallel_size, log.data_parallel_size);
  take(base.v2_model_runner, log.v2_runner);
  take(base.mamba_cache_mode, log.mamba_mode);
  if (!log.reserved_kv.empty() && !base.kv_cache_memory_bytes)
    base.kv_cache_memory_bytes = profiles::from_gib(log.reserved_kv.front().value);
  if (!log.blocks_override.empty()) base.num_gpu_blocks_override = log.blocks_override.back().value;
  if (log.speculative && !base.speculative) {
    const std::int64_t tokens = log.speculative_tokens ? log.speculative_tokens->value : 1;
    base.speculative = planner::Speculative{.method = log.speculative->value, .tokens = static_cast<int>(tokens)};
  }
  return base;
}

planner::Serving arguments_from_log(const BootLog& log, const FlagTable& flags, planner::Serving base) {
  if (!log.arguments) return base;
  const std::string json = json_of_python(log.arguments->value);
  if (json.empty()) return base;
  try {
    const planner::Version version = planner::parse_version(log.version ? log.version->value : "");
    Deployment deployment;
    const profiles::Node list = profiles::parse_json(json, "non-default args");
    deployment.arguments = config_arguments(list, true, flags, version, deployment.remarks);
    std::optional<Stated> draft;
    const Serving stated = serving_of(deployment, draft);
    for (const Copied& one : kCopied) {
      if (argument(deployment, one.flag) != nullptr) one.copy(stated, base);
    }
  } catch (const profiles::Error&) {
    return base;
  }
  return base;
}

}  // namespace kvfit::runtime
