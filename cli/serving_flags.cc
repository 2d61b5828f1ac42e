#include "cli/serving_flags.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/frontier.h"
#include "profiles/error.h"
#include "profiles/quantity.h"
#include "profiles/text.h"
#include "runtime/serve_values.h"

namespace kvfit::cli {
namespace {

using planner::Serving;
using planner::Speculative;
using profiles::fail_input;
using profiles::format;

std::optional<bool> language_model_only(const Args& args) {
  std::optional<bool> out;
  if (const std::optional<std::string> vision = args.text("vision")) out = *vision == "off";
  if (const std::optional<std::string> limits = args.text("limit-mm-per-prompt")) {
    const bool none = runtime::no_items_allowed(*limits, "--limit-mm-per-prompt");
    if (out && *out != none) {
      fail_input(format("--vision {} and --limit-mm-per-prompt {} contradict each other", args.text("vision").value_or(""),
                        *limits),
                 {}, "leave one of them out");
    }
    out = none;
  }
  return out;
}

std::optional<Speculative> speculative_from(const Args& args, std::optional<std::string>& draft_model) {
  const std::optional<std::int64_t> mtp = args.integer("mtp");
  const std::optional<std::string> config = args.text("speculative-config");
  if (mtp && config) fail_input("--mtp and --speculative-config say the same thing twice", {}, "leave one of them out");
  if (config) {
    runtime::SpeculativeConfig read = runtime::read_speculative(*config, "--speculative-config", true);
    draft_model = std::move(read.draft_model);
    return std::move(read.value);
  }
  if (mtp && *mtp > 0) return Speculative{.method = "mtp", .tokens = static_cast<int>(*mtp)};
  return std::nullopt;
}

void parallel_from(const Args& args, Serving& out) {
  out.tensor_parallel_size = args.integer("tp").value_or(1);
  out.pipeline_parallel_size = args.integer("pp").value_or(1);
  out.data_parallel_size = args.integer("dp").value_or(1);
  out.decode_context_parallel_size = args.integer("dcp").value_or(1);
  out.enable_expert_parallel = args.toggle("ep").value_or(false);
  out.enable_eplb = args.toggle("enable-eplb").value_or(false);
  out.num_redundant_experts = args.integer("num-redundant-experts").value_or(0);
}

void cache_from(const Args& args, Serving& out) {
  out.kv_cache_dtype = args.text("kv-cache-dtype").value_or("auto");
  out.kv_cache_memory_bytes = args.size("kv-cache-memory-bytes");
  out.num_gpu_blocks_override = args.integer("num-gpu-blocks-override");
  out.block_size = args.integer("block-size");
  if (const std::optional<std::string> prefix = args.text("prefix-caching")) out.enable_prefix_caching = *prefix == "on";
  out.mamba_cache_mode = args.text("mamba-cache-mode").value_or("");
  out.mamba_ssm_cache_dtype = args.text("mamba-ssm-cache-dtype").value_or("auto");
  out.disable_hybrid_kv_cache_manager = args.toggle("disable-hybrid-kv-cache-manager").value_or(false);
}

}  // namespace

Serving serving_from(const Args& args, std::optional<std::string>& draft_model) {
  Serving out;
  out.max_model_len = args.tokens("max-model-len");
  out.max_num_seqs = args.integer("max-num-seqs");
  out.max_num_batched_tokens = args.tokens("max-num-batched-tokens");
  if (out.max_num_batched_tokens && *out.max_num_batched_tokens < 0) {
    fail_input("--max-num-batched-tokens wants a count, not auto", {}, "leave it out for the engine's default");
  }
  out.gpu_memory_utilization = args.number("util");
  parallel_from(args, out);
  cache_from(args, out);
  out.enable_chunked_prefill = args.toggle("enable-chunked-prefill");
  out.async_scheduling = args.toggle("async-scheduling");
  out.enforce_eager = args.toggle("enforce-eager");
  out.max_cudagraph_capture_size = args.integer("max-cudagraph-capture-size");
  out.attention_backend = args.text("attention-backend").value_or("");
  out.quantization = args.text("quantization").value_or("");
  out.moe_backend = args.text("moe-backend").value_or("");
  out.dtype = args.text("dtype").value_or("auto");
  out.language_model_only = language_model_only(args);
  out.skip_mm_profiling = args.toggle("skip-mm-profiling").value_or(false);
  out.speculative = speculative_from(args, draft_model);
  out.enable_lora = args.toggle("enable-lora").value_or(false);
  out.max_loras = args.integer("max-loras").value_or(1);
  out.max_lora_rank = args.integer("max-lora-rank").value_or(16);
  out.cpu_offload_gb = args.number("cpu-offload-gb").value_or(0);
  out.enable_sleep_mode = args.toggle("enable-sleep-mode").value_or(false);
  return out;
}

planner::Search search_from(const Args& args) {
  planner::Search out;
  out.experts = !args.has("experts");
  out.experts_fixed = args.integer("experts").value_or(0);
  out.experts_step = args.integer("experts-step").value_or(32);
  out.context = !args.has("max-model-len");
  out.sequences = !args.has("max-num-seqs");
  out.prefer = args.text("prefer").value_or("experts,context,sequences");
  (void)planner::parse_preference(out.prefer);  // says what is wrong before any file is read
  return out;
}

planner::Confidence confidence_from(const Args& args) {
  const std::string percent = args.text("confidence").value_or("90");
  if (percent == "50") return planner::Confidence::half;
  return percent == "95" ? planner::Confidence::ninety_five : planner::Confidence::ninety;
}

profiles::Bytes margin_from(const Args& args, profiles::Bytes total) {
  return margin_of(args.text("margin").value_or("0"), total);
}

profiles::Bytes margin_of(const std::string& text, profiles::Bytes total) {
  if (const std::optional<profiles::Bytes> size = profiles::read_size(text)) return *size;
  double percent = 0;
  const std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool ok = read.ec == std::errc{} && std::string_view(read.ptr, text.data() + text.size()) == "%" && percent >= 0 &&
                  percent <= 100;
  if (!ok) fail_input(format("--margin wants a size such as 512MiB or a share from 0% to 100%, not '{}'", text));
  return profiles::Bytes(std::llround(percent / 100 * static_cast<double>(total.count)));
}

}  // namespace kvfit::cli
