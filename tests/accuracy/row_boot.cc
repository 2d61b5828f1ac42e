// A row of the general shape: {engine_version, gpu, gpu_mem_gib, tp, model, quant, args{}, measured{}}.
#include <algorithm>
#include <array>

#include "profiles/text.h"
#include "tests/accuracy/argument_text.h"
#include "tests/accuracy/json_fields.h"
#include "tests/accuracy/rows.h"
#include "tests/accuracy/spelling.h"

namespace kvfit::accuracy {

using profiles::Json;

namespace {

/// Arguments that do not change GPU memory, or that are read elsewhere.
constexpr std::array<std::string_view, 53> kKnown = {"max_model_len",
                                                     "context",
                                                     "max_num_seqs",
                                                     "max_num_batched_tokens",
                                                     "gpu_memory_utilization",
                                                     "tensor_parallel_size",
                                                     "pipeline_parallel_size",
                                                     "data_parallel_size",
                                                     "decode_context_parallel_size",
                                                     "block_size",
                                                     "dtype",
                                                     "kv_cache_dtype",
                                                     "kv_cache_memory_bytes",
                                                     "enable_prefix_caching",
                                                     "enforce_eager",
                                                     "async_scheduling",
                                                     "language_model_only",
                                                     "enable_lora",
                                                     "enable_expert_parallel",
                                                     "mamba_cache_mode",
                                                     "mamba_ssm_cache_dtype",
                                                     "moe_backend",
                                                     "attention_backend",
                                                     "speculative",
                                                     "speculative_config",
                                                     "max_cudagraph_capture_size",
                                                     "cudagraph_capture_sizes",
                                                     "cpu_offload_gb",
                                                     "limit_mm_per_prompt",
                                                     "limit_mm",
                                                     "DFLASH_TOKENS",
                                                     "kv_offloading_size_gib",
                                                     "kv_offloading_gib",
                                                     "load_format",
                                                     "kv_transfer_config",
                                                     "KV_GROUP_SIZE",
                                                     "seed",
                                                     "trust_remote_code",
                                                     "served_model_name",
                                                     "port",
                                                     "host",
                                                     "tokenizer",
                                                     "quantization",
                                                     "max_loras",
                                                     "num_gpu_blocks_override",
                                                     "num_redundant_experts",
                                                     "enable_sleep_mode",
                                                     "enable_eplb",
                                                     "skip_mm_profiling",
                                                     "disable_hybrid_kv_cache_manager",
                                                     "enable_chunked_prefill",
                                                     "max_lora_rank"};

Outcome outcome_of(const Json& measured) {
  const Text error = text_of(measured, "error");
  if (!error) {
    const bool sized = member(measured, "available_kv_gib") != nullptr || member(measured, "kv_tokens") != nullptr ||
                       member(measured, "max_concurrency") != nullptr || member(measured, "num_gpu_blocks") != nullptr;
    return sized ? Outcome::good : Outcome::unstated;
  }
  if (*error == "free_mem" || *error == "free_memory") return Outcome::free_memory;
  if (*error == "no_blocks") return Outcome::no_blocks;
  if (*error == "kv_too_small") return Outcome::kv_too_small;
  if (*error == "mamba_blocks") return Outcome::mamba_blocks;
  if (contains(lower(*error), "oom")) return Outcome::oom;
  if (contains(lower(*error), "kernel")) return Outcome::kernel;
  return Outcome::aside;
}

/// Leading whole number of a value such as 4 or "4 on the command line shown"; "32k" counts in 1,024.
Count leading_count(const Json& object, std::string_view key) {
  if (const Count plain = count_of(object, key)) return plain;
  const Text text = text_of(object, key);
  if (!text) return std::nullopt;
  const std::vector<std::string> parts = words(*text);
  if (parts.empty()) return std::nullopt;
  std::string first = parts.front();
  const bool thousands = first.size() > 1 && first.back() == 'k';
  if (thousands) first.pop_back();
  if (first.size() > 9 || first.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoll(first) * (thousands ? 1024 : 1);
}

std::optional<Speculation> speculation_of(const Json& args) {
  const Json& config = object_of(args, "speculative_config");
  if (!config.empty()) {
    std::optional<Speculation> out = read_speculation(text_of(config, "method").value_or("draft_model"));
    if (out) out->tokens = count_of(config, "num_speculative_tokens");
    return out;
  }
  if (const Text text = text_of(args, "speculative")) return read_speculation(*text);
  if (const Text text = text_of(args, "speculative_config")) return read_speculation(*text);
  if (const Count tokens = count_of(args, "DFLASH_TOKENS")) return Speculation{"draft_model", tokens, false};
  return std::nullopt;
}

/// Every modality limited to none means that the tower is not loaded.
std::optional<bool> without_tower(const Json& args) {
  if (const std::optional<bool> flag = flag_of(args, "language_model_only")) return flag;
  const Json& limits = object_of(args, "limit_mm_per_prompt");
  if (limits.empty()) return std::nullopt;
  const bool none =
      std::all_of(limits.begin(), limits.end(), [](const Json& limit) { return limit.is_number() && limit == 0; });
  return none ? std::optional<bool>(true) : std::nullopt;
}

Arguments arguments_of(const Json& args) {
  Arguments out;
  out.max_model_len = leading_count(args, "max_model_len");
  if (!out.max_model_len) out.max_model_len = leading_count(args, "context");
  out.max_num_seqs = leading_count(args, "max_num_seqs");
  out.max_num_batched_tokens = leading_count(args, "max_num_batched_tokens");
  out.block_size = leading_count(args, "block_size");
  out.max_cudagraph_capture_size = leading_count(args, "max_cudagraph_capture_size");
  if (const Json* sizes = member(args, "cudagraph_capture_sizes"); sizes != nullptr && sizes->is_array()) {
    for (const Json& size : *sizes) {
      if (size.is_number_integer()) out.cudagraph_capture_sizes.push_back(size.get<std::int64_t>());
    }
  }
  out.gpu_memory_utilization = number_of(args, "gpu_memory_utilization");
  out.cpu_offload_gb = number_of(args, "cpu_offload_gb");
  out.kv_cache_memory_bytes = count_of(args, "kv_cache_memory_bytes");
  if (const Text text = text_of(args, "kv_cache_dtype")) out.kv_cache_dtype = read_cache_types(*text).kv;
  out.dtype = text_of(args, "dtype");
  out.mamba_cache_mode = text_of(args, "mamba_cache_mode");
  out.mamba_ssm_cache_dtype = text_of(args, "mamba_ssm_cache_dtype");
  out.moe_backend = text_of(args, "moe_backend");
  out.attention_backend = text_of(args, "attention_backend");
  out.enable_prefix_caching = flag_of(args, "enable_prefix_caching");
  out.enforce_eager = flag_of(args, "enforce_eager");
  out.async_scheduling = flag_of(args, "async_scheduling");
  out.language_model_only = without_tower(args);
  out.enable_lora = flag_of(args, "enable_lora");
  out.enable_expert_parallel = flag_of(args, "enable_expert_parallel").value_or(false);
  out.num_gpu_blocks_override = leading_count(args, "num_gpu_blocks_override");
  out.max_loras = leading_count(args, "max_loras");
  out.max_lora_rank = leading_count(args, "max_lora_rank");
  out.num_redundant_experts = leading_count(args, "num_redundant_experts");
  out.enable_sleep_mode = flag_of(args, "enable_sleep_mode").value_or(false);
  out.enable_eplb = flag_of(args, "enable_eplb").value_or(false);
  out.skip_mm_profiling = flag_of(args, "skip_mm_profiling").value_or(false);
  out.disable_hybrid_kv_cache_manager = flag_of(args, "disable_hybrid_kv_cache_manager").value_or(false);
  out.speculative = speculation_of(args);
  for (const auto& [key, value] : args.items()) {
    if (value.is_null()) out.unknown.push_back(key);
    if (std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end()) {
      out.unread.push_back(profiles::format("{}={}", key, value.is_string() ? value.get<std::string>() : value.dump()));
    }
  }
  return out;
}

Measured measured_of(const Json& row) {
  Measured out;
  out.weights = printed_of(row, "weights_gib");
  out.available_kv = printed_of(row, "available_kv_gib");
  out.graphs = printed_of(row, "graph_gib");
  out.graphs_estimated = printed_of(row, "graph_estimated_gib");
  out.activation = printed_of(row, "activation_gib");
  out.non_torch = printed_of(row, "non_torch_gib");
  out.consumed = printed_of(row, "consumed_gib");
  out.needed_kv = printed_of(row, "needed_kv_gib");
  out.free_at_start = printed_of(row, "free_at_start_gib");
  out.requested = printed_of(row, "requested_gib");
  out.kv_tokens = count_of(row, "kv_tokens");
  out.at_len = count_of(row, "at_len");
  out.num_gpu_blocks = count_of(row, "num_gpu_blocks");
  out.estimated_max_len = count_of(row, "est_max_len");
  out.attention_block = count_of(row, "attn_block_size");
  out.mamba_blocks = count_of(row, "mamba_blocks");
  out.concurrency = printed_of(row, "max_concurrency");
  return out;
}

}  // namespace

Observation read_boot(const Json& row) {
  const Json args = engine_arguments(row);
  Observation out;
  out.shape = "boot";
  out.engine = read_engine_name(text_of(row, "engine").value_or("vllm"));
  out.engine_version = text_of(row, "engine_version");
  out.gpu = text_of(row, "gpu");
  out.gpu_hint = text_of(row, "gpu_hint");
  out.total_gib = number_of(row, "gpu_mem_gib");
  const Json* total = member(row, "gpu_mem_gib");
  const bool decimals = total != nullptr && total->is_string() && total->get<std::string>().find('.') != std::string::npos;
  out.total_printed = decimals || (total != nullptr && total->is_number_float());
  out.tp = count_of(row, "tp");
  if (!out.tp) out.tp = count_of(args, "tensor_parallel_size");  // with a remark beside the number it is not a statement
  out.pp = count_of(row, "pp");
  if (!out.pp) out.pp = leading_count(args, "pipeline_parallel_size");
  out.dp = leading_count(args, "data_parallel_size");
  out.dcp = leading_count(args, "decode_context_parallel_size");
  out.gpu_count = count_of(row, "gpu_count");
  if (!out.tp && out.gpu_count && *out.gpu_count > 1)
    out.tp = *out.gpu_count / std::max<std::int64_t>(out.pp.value_or(1) * out.dp.value_or(1), 1);
  out.model = text_of(row, "model");
  out.quant = text_of(row, "quant");
  out.arguments = arguments_of(args);
  out.measured = measured_of(object_of(row, "measured"));
  out.outcome = outcome_of(object_of(row, "measured"));
  if (out.arguments.language_model_only) out.vision = !*out.arguments.language_model_only;
  return out;
}

}  // namespace kvfit::accuracy
