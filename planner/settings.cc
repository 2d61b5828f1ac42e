#include "planner/settings.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "planner/traits.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::planner {
namespace {

using models::Model;
using profiles::DType;
using profiles::fail_input;
using profiles::format;

std::int64_t positive(std::optional<std::int64_t> stated, std::int64_t fallback, std::string_view name) {
  const std::int64_t value = stated.value_or(fallback);
  if (value <= 0) fail_input(format("{} must be positive, not {}", name, value));
  if (value > (std::int64_t{1} << 40)) fail_input(format("{} is absurdly large: {}", name, value));
  return value;
}

void resolve_parallelism(const Serving& serving, Settings& out) {
  out.tp = positive(serving.tensor_parallel_size, 1, "tensor_parallel_size");
  out.pp = positive(serving.pipeline_parallel_size, 1, "pipeline_parallel_size");
  out.dp = positive(serving.data_parallel_size, 1, "data_parallel_size");
  out.dcp = positive(serving.decode_context_parallel_size, 1, "decode_context_parallel_size");
  if (out.tp % out.dcp != 0) {
    fail_input(format("decode_context_parallel_size {} does not divide tensor_parallel_size {}", out.dcp, out.tp));
  }
  out.expert_parallel = serving.enable_expert_parallel ? out.tp * out.dp : 1;
}

DType compute_dtype(const Question& question, const Rules& rules, const Traits& traits) {
  const std::string& stated = question.serving.dtype;
  if (stated != "auto" && !stated.empty()) {
    const std::optional<DType> known = profiles::dtype_from_torch(stated);
    if (!known) fail_input(format("unknown dtype '{}'", stated), {}, "one of auto, bfloat16, float16, float32");
    return *known;
  }
  // "auto" never computes in float32, and cards without bfloat16 get float16; table auto_dtype.
  const DType model = question.model.dtype;
  const Row* row = rules.find("auto_dtype", traits);
  if (row != nullptr && (model == DType::f32 || row->is("replaces", "all"))) {
    return profiles::dtype_from_torch(row->word("dtype")).value_or(model);
  }
  return model;
}

// min(T, S*L) and min(S, T) hold only for values that nobody stated.
void resolve_batch(const Question& question, const Rules& rules, const Traits& traits, Settings& out) {
  const Serving& serving = question.serving;
  const std::int64_t derived = std::max<std::int64_t>(question.model.max_position, 1);
  out.auto_max_model_len = serving.max_model_len == -1;
  out.max_model_len = out.auto_max_model_len ? derived : positive(serving.max_model_len, derived, "max_model_len");
  const Row& row = rules.pick("batch_defaults", traits);
  const std::int64_t factor = serving.performance_mode == "throughput" ? row.count("throughput_factor") : 1;
  out.max_num_seqs = positive(serving.max_num_seqs, row.count("max_num_seqs") * factor, "max_num_seqs");
  out.max_num_batched_tokens =
      positive(serving.max_num_batched_tokens, row.count("max_num_batched_tokens") * factor, "max_num_batched_tokens");
  const std::int64_t whole_up_to = std::llround(row.value_or("whole_prompts_up_to", 0));
  out.chunked_prefill = serving.enable_chunked_prefill.value_or(out.max_model_len > whole_up_to);
  if (!serving.max_num_batched_tokens) {
    if (!out.chunked_prefill) out.max_num_batched_tokens = std::max(out.max_model_len, out.max_num_batched_tokens);
    out.max_num_batched_tokens =
        std::min(out.max_num_batched_tokens, profiles::checked_mul(out.max_num_seqs, out.max_model_len));
  }
  if (!serving.max_num_seqs) out.max_num_seqs = std::min(out.max_num_seqs, out.max_num_batched_tokens);
}

std::string plain_kv(DType dtype) {
  if (dtype == DType::f32) return "f32";
  return dtype == DType::f16 ? "fp16" : "bf16";
}

// --kv-cache-dtype: "auto" is what the checkpoint declares, else the model's own type; sparse latent attention may replace
// an fp8 request with its own layout.
void resolve_kv_dtype(const Question& question, const Rules& rules, Traits traits, Settings& out) {
  std::string word = question.serving.kv_cache_dtype;
  if (word.empty() || word == "auto") {
    const Row* declared = rules.find("kv_declared", traits);
    const bool honoured = declared != nullptr && !question.model.quantization.kv_cache.empty();
    word = honoured ? question.model.quantization.kv_cache : plain_kv(out.dtype);
  }
  if (word == "bfloat16" || word == "float16" || word == "half") word = word == "bfloat16" ? "bf16" : "fp16";
  if (word == "fp8" || word == "fp8_e4m3fn") word = "fp8_e4m3";
  traits["kv_cache_dtype"] = word;
  const bool latent = std::get<std::string>(traits.at("mla")) == "yes";
  if (word != "fp8_ds_mla" && rules.find(latent ? "kv_latent" : "kv_dtype", traits) == nullptr) {
    if (latent)
      fail_input(format("latent attention (MLA) has no KV cache of kv_cache_dtype '{}'", word), {}, "try auto or fp8");
    fail_input(format("unknown kv_cache_dtype '{}'", word), {},
               "one of auto, bfloat16, fp8, fp8_e5m2, nvfp4, int8_per_token_head ...");
  }
  if (const Row* replaced = rules.find("kv_replaced", traits); replaced != nullptr) word = replaced->word("kv_cache_dtype");
  out.kv_cache_dtype = word;
}

void resolve_mamba(const Question& question, const Rules& rules, const Traits& traits, Settings& out) {
  const Serving& serving = question.serving;
  const bool hybrid = std::get<std::string>(traits.at("hybrid")) == "yes";
  out.prefix_caching = serving.enable_prefix_caching.value_or(rules.pick("prefix_caching", traits).is("default", "on"));
  out.state_dtype = out.dtype;
  for (const models::Layer& layer : question.model.layers) {
    if (layer.recurrent && layer.recurrent->state_dtype) {
      out.state_dtype = *layer.recurrent->state_dtype;
      break;
    }
  }
  const std::string& stated = serving.mamba_ssm_cache_dtype;
  if (!stated.empty() && stated != "auto") {
    const std::optional<DType> known = profiles::dtype_from_torch(stated);
    if (!known) fail_input(format("unknown mamba_ssm_cache_dtype '{}'", stated));
    out.state_dtype = *known;
  }
  if (!hybrid || !out.prefix_caching) return;
  // With prefix caching the engine keeps states at block borders; which way depends on what the model supports.
  const Row* row = rules.find("mamba_mode", traits);
  if (row == nullptr) {
    out.prefix_caching = false;  // this version cannot cache prefixes of such a model and switches it off
    return;
  }
  std::string word = serving.mamba_cache_mode.empty() ? row->word("default") : serving.mamba_cache_mode;
  if (word == "all" && !row->is("all", "yes")) word = "align";
  if (word != "all" && word != "align" && word != "none") {
    fail_input(format("unknown mamba_cache_mode '{}'", word), {}, "one of none, align, all");
  }
  out.mamba_mode = word == "all" ? MambaMode::all : MambaMode::align;
}

void resolve_backend(const Question& question, const Rules& rules, Traits traits, Settings& out) {
  traits["kv_cache_dtype"] = out.kv_cache_dtype;
  const Row& choice = rules.pick("attention_backend", traits);
  out.attention_backend =
      question.serving.attention_backend.empty() ? choice.word("backend") : question.serving.attention_backend;
  for (char& c : out.attention_backend) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  traits["backend"] = out.attention_backend;
  const Row& block = rules.pick("attention_block", traits);
  out.block_size_stated = question.serving.block_size.has_value() && !block.is("forced", "yes");
  out.block_size = block.count("block_size");
  if (out.block_size_stated) out.block_size = positive(question.serving.block_size, 16, "block_size");
  if (out.block_size % block.count("multiple_of") != 0) {
    fail_input(format("block_size {} is not a multiple of {}, which {} needs", out.block_size, block.count("multiple_of"),
                      out.attention_backend));
  }
}

void resolve_runner(const Question& question, const Rules& rules, Traits& traits, Settings& out) {
  const Row& runner = rules.pick("model_runner", traits);
  out.runner = runner.is("runner", "v2") ? Runner::v2 : Runner::v1;
  out.runner_sure = !runner.is("sure", "no");
  if (question.serving.v2_model_runner) {
    out.runner = *question.serving.v2_model_runner ? Runner::v2 : Runner::v1;
    out.runner_sure = true;
  }
  traits["runner"] = out.runner == Runner::v2 ? "v2" : "v1";
  out.async_scheduling =
      question.serving.async_scheduling.value_or(rules.pick("async_scheduling", traits).is("default", "on"));
  traits["async"] = out.async_scheduling ? "yes" : "no";
  const Row& batches = rules.pick("in_flight", traits);
  const std::int64_t concurrent = batches.count("batches") + batches.count("batches_per_stage") * out.pp;
  out.in_flight_tokens = profiles::checked_mul(concurrent, out.max_num_batched_tokens);
}

void resolve_graphs(const Question& question, const Rules& rules, const Traits& traits, Settings& out) {
  out.eager = question.serving.enforce_eager.value_or(false) || question.serving.cudagraph_mode == "NONE";
  if (out.eager) return;
  out.capture_sizes = capture_sizes(out, question.serving, rules, traits);
  const std::int64_t decode = out.max_num_seqs * (1 + out.speculative_tokens);
  const std::string& stated = question.serving.cudagraph_mode;
  const bool full = stated.empty() ? rules.pick("cudagraph_mode", traits).is("full_decode", "yes")
                                   : stated.find("FULL") != std::string::npos;
  if (full) {
    out.full_capture_sizes =
        std::count_if(out.capture_sizes.begin(), out.capture_sizes.end(), [&](std::int64_t size) { return size <= decode; });
  }
  const Row& estimate = rules.pick("graph_estimate_mode", traits);
  out.graph_estimate_applied =
      question.serving.estimate_cuda_graphs.value_or(estimate.is("default", "on")) && estimate.is("available", "yes");
}

}  // namespace

std::string_view mamba_mode_name(MambaMode mode) {
  switch (mode) {
    case MambaMode::none:
      return "none";
    case MambaMode::align:
      return "align";
    case MambaMode::all:
      return "all";
  }
  return "none";
}

std::vector<std::int64_t> capture_sizes(const Settings& settings, const Serving& serving, const Rules& rules,
                                        const Traits& traits) {
  std::vector<std::int64_t> sizes = serving.cudagraph_capture_sizes;
  const Row& row = rules.pick("capture_sizes", traits);
  const std::int64_t per_request = 1 + settings.speculative_tokens;
  std::int64_t largest = std::min(settings.max_num_seqs * per_request * row.count("per_sequence"), row.count("largest"));
  if (serving.max_cudagraph_capture_size) largest = *serving.max_cudagraph_capture_size;
  largest = std::min(largest, settings.max_num_batched_tokens);
  if (sizes.empty()) {
    for (const std::int64_t first : {1, 2, 4}) {
      if (first <= largest) sizes.push_back(first);
    }
    const std::int64_t coarse = row.count("coarse_from");
    for (std::int64_t n = row.count("fine_step"); n <= largest && n < coarse; n += row.count("fine_step"))
      sizes.push_back(n);
    for (std::int64_t n = coarse; n <= largest; n += row.count("coarse_step")) sizes.push_back(n);
    if (row.is("batch_too", "yes") && largest == settings.max_num_batched_tokens) sizes.push_back(largest);
  }
  if (per_request > 1 && row.is("whole_requests", "yes")) {
    for (std::int64_t& size : sizes) size = profiles::round_up(size, per_request);
    std::erase_if(sizes, [&](std::int64_t size) { return size > largest; });
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

Settings resolve_settings(const Question& question, const Traits& stated) {
  const Rules& rules = *question.rules;
  const Serving& serving = question.serving;
  Traits traits = stated;
  Settings out;
  resolve_parallelism(serving, out);
  traits["ep"] = static_cast<double>(out.expert_parallel);
  out.dtype = compute_dtype(question, rules, traits);
  if (serving.speculative) {
    out.speculative_method = serving.speculative->method;
    out.speculative_tokens = serving.speculative->tokens;
    if (out.speculative_tokens < 0) fail_input("num_speculative_tokens must not be negative");
  }
  const Row* text_only = rules.find("text_only", traits);
  const bool drops_tower = text_only == nullptr || !text_only->is("drops_tower", "no");
  out.vision = question.model.vision.has_value() && !(serving.language_model_only.value_or(false) && drops_tower);
  traits["vision"] = out.vision ? "yes" : "no";
  out.hybrid_kv_manager = !serving.disable_hybrid_kv_cache_manager;
  resolve_batch(question, rules, traits, out);
  out.gpu_memory_utilization =
      serving.gpu_memory_utilization.value_or(rules.pick("gpu_memory_utilization", traits).value("default"));
  if (!(out.gpu_memory_utilization > 0 && out.gpu_memory_utilization <= 1)) {
    fail_input(format("gpu_memory_utilization must be above 0 and at most 1, not {}", out.gpu_memory_utilization));
  }
  resolve_kv_dtype(question, rules, traits, out);
  resolve_mamba(question, rules, traits, out);
  resolve_backend(question, rules, traits, out);
  resolve_runner(question, rules, traits, out);
  add_settings(traits, out);
  resolve_graphs(question, rules, traits, out);
  return out;
}

Traits traits_of(const Question& question) {
  Traits traits = stated_traits(question);
  add_settings(traits, resolve_settings(question, traits));
  return traits;
}

}  // namespace kvfit::planner
