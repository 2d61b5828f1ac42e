#include "runtime/deployment_serving.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/error.h"
#include "profiles/quantity.h"
#include "profiles/text.h"
#include "runtime/serve_values.h"

namespace kvfit::runtime {
namespace {

using planner::Serving;
using profiles::fail_input;
using profiles::format;

class Reader {
 public:
  explicit Reader(const Deployment& deployment) : deployment_(deployment) {}

  const ServeArgument* find(std::string_view name) const { return argument(deployment_, name); }

  [[noreturn]] void wrong(const ServeArgument& one, std::string_view wanted) const {
    const bool variable = one.value.find('$') != std::string::npos;
    fail_input(format("--{} wants {}, not '{}'", one.name, wanted, one.value), one.where,
               variable ? "it is known only where it runs: state the value, or check the file as it is rendered" : "");
  }

  std::optional<std::int64_t> count(std::string_view name, std::int64_t least = 1) const {
    const ServeArgument* one = find(name);
    if (one == nullptr) return std::nullopt;
    const std::optional<std::int64_t> out = profiles::read_count(one->value);
    if (!out || *out < least || *out > std::int64_t{1} << 40) wrong(*one, "a whole number");
    return out;
  }

  std::optional<double> number(std::string_view name, double low, double high) const {
    const ServeArgument* one = find(name);
    if (one == nullptr) return std::nullopt;
    double out = 0;
    const std::from_chars_result read = std::from_chars(one->value.data(), one->value.data() + one->value.size(), out);
    const bool whole = read.ec == std::errc{} && read.ptr == one->value.data() + one->value.size();
    if (!whole || !(out >= low && out <= high)) wrong(*one, format("a number from {} to {}", low, high));
    return out;
  }

  std::optional<bool> toggle(std::string_view name) const {
    const ServeArgument* one = find(name);
    if (one == nullptr) return std::nullopt;
    return !one->off;
  }

  std::string text(std::string_view name, const std::string& fallback) const {
    const ServeArgument* one = find(name);
    return one == nullptr ? fallback : one->value;
  }

  std::vector<std::int64_t> counts(std::string_view name) const {
    std::vector<std::int64_t> out;
    const ServeArgument* one = find(name);
    if (one == nullptr) return out;
    std::string_view rest = one->value;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find_first_of(" ,[]"), rest.size());
      if (end > 0) {
        const std::optional<std::int64_t> size = profiles::read_count(rest.substr(0, end));
        if (!size || *size < 1 || *size > 1'000'000) wrong(*one, "whole numbers");
        out.push_back(*size);
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return out;
  }

  /// Errors inside a value of its own grammar get the place of the flag.
  template <typename Read>
  void inside(const ServeArgument& one, Read read) const {
    try {
      read(one.value, "--" + one.name);
    } catch (const profiles::Error& error) {
      const std::string& key = error.where().key;
      fail_input(format("--{}{}: {}", one.name, key.empty() ? "" : " " + key, error.message()), one.where, error.hint());
    }
  }

 private:
  const Deployment& deployment_;
};

void lengths(const Reader& reader, Serving& out) {
  if (const ServeArgument* one = reader.find("max-model-len")) {
    const bool free = one->value == "auto" || one->value == "-1";
    out.max_model_len = free ? -1 : reader.count("max-model-len");
  }
  out.max_num_seqs = reader.count("max-num-seqs");
  out.max_num_batched_tokens = reader.count("max-num-batched-tokens");
  out.gpu_memory_utilization = reader.number("gpu-memory-utilization", 0.01, 1);
  if (const std::optional<std::int64_t> bytes = reader.count("kv-cache-memory-bytes")) {
    out.kv_cache_memory_bytes = profiles::Bytes(*bytes);
  }
  out.num_gpu_blocks_override = reader.count("num-gpu-blocks-override");
  out.block_size = reader.count("block-size");
}

void parallel(const Reader& reader, Serving& out) {
  out.tensor_parallel_size = reader.count("tensor-parallel-size").value_or(1);
  out.pipeline_parallel_size = reader.count("pipeline-parallel-size").value_or(1);
  out.data_parallel_size = reader.count("data-parallel-size").value_or(1);
  out.decode_context_parallel_size = reader.count("decode-context-parallel-size").value_or(1);
  out.enable_expert_parallel = reader.toggle("enable-expert-parallel").value_or(false);
  out.enable_eplb = reader.toggle("enable-eplb").value_or(false);
  out.num_redundant_experts = reader.count("num-redundant-experts", 0).value_or(0);
  if (const ServeArgument* one = reader.find("eplb-config")) {
    reader.inside(*one, [&out](const std::string& value, const std::string& name) {
      out.num_redundant_experts = redundant_experts(value, name);
    });
  }
}

void cache(const Reader& reader, const Deployment& deployment, Serving& out) {
  out.kv_cache_dtype = reader.text("kv-cache-dtype", "auto");
  out.enable_prefix_caching = reader.toggle("enable-prefix-caching");
  out.mamba_cache_mode = reader.text("mamba-cache-mode", "");
  out.mamba_ssm_cache_dtype = reader.text("mamba-ssm-cache-dtype", "auto");
  out.disable_hybrid_kv_cache_manager = reader.toggle("disable-hybrid-kv-cache-manager").value_or(false);
  out.attention_backend = reader.text("attention-backend", "");
  const EnvironmentVariable* backend = variable(deployment, "VLLM_ATTENTION_BACKEND");
  if (out.attention_backend.empty() && backend != nullptr) out.attention_backend = backend->value;
  out.quantization = reader.text("quantization", "");
  out.moe_backend = reader.text("moe-backend", "");
  if (out.moe_backend == "auto") out.moe_backend.clear();
}

void graphs(const Reader& reader, Serving& out) {
  out.enforce_eager = reader.toggle("enforce-eager");
  out.cudagraph_capture_sizes = reader.counts("cudagraph-capture-sizes");
  if (out.cudagraph_capture_sizes.empty()) out.cudagraph_capture_sizes = reader.counts("cuda-graph-sizes");
  out.max_cudagraph_capture_size = reader.count("max-cudagraph-capture-size", 0);
  if (reader.text("optimization-level", "") == "0") out.enforce_eager = true;
  if (const ServeArgument* one = reader.find("compilation-config")) {
    reader.inside(*one, [&out](const std::string& value, const std::string& name) {
      const CompilationConfig read = read_compilation(value, name);
      if (!read.capture_sizes.empty()) out.cudagraph_capture_sizes = read.capture_sizes;
      if (read.max_capture_size) out.max_cudagraph_capture_size = read.max_capture_size;
      if (!read.cudagraph_mode.empty()) out.cudagraph_mode = read.cudagraph_mode;
      if (read.eager) out.enforce_eager = true;
    });
  }
  out.performance_mode = reader.text("performance-mode", "");
}

void multimodal(const Reader& reader, Serving& out) {
  if (const ServeArgument* one = reader.find("limit-mm-per-prompt")) {
    reader.inside(*one, [&out](const std::string& value, const std::string& name) {
      if (no_items_allowed(value, name)) out.language_model_only = true;
    });
  }
  if (reader.toggle("language-model-only").value_or(false)) out.language_model_only = true;
  out.skip_mm_profiling = reader.toggle("skip-mm-profiling").value_or(false);
}

void speculation(const Reader& reader, Serving& out, std::optional<Stated>& draft_model) {
  if (const ServeArgument* one = reader.find("speculative-config")) {
    reader.inside(*one, [&](const std::string& value, const std::string& name) {
      const SpeculativeConfig read = read_speculative(value, name, false);
      out.speculative = read.value;
      if (read.draft_model) draft_model = Stated{*read.draft_model, one->where};
    });
    return;
  }
  // --spec-method, --spec-model, --spec-tokens; before 0.9 --speculative-model and --num-speculative-tokens.
  const ServeArgument* model = reader.find("spec-model");
  if (model == nullptr) model = reader.find("speculative-model");
  std::optional<std::int64_t> tokens = reader.count("spec-tokens");
  if (!tokens) tokens = reader.count("num-speculative-tokens");
  if (!tokens || *tokens > 64) return;
  std::string method = reader.text("spec-method", "");
  const bool ngram = model != nullptr && model->value == "[ngram]";
  if (method.empty()) method = ngram ? "ngram" : model != nullptr ? "draft_model" : "mtp";
  out.speculative = planner::Speculative{.method = method, .tokens = static_cast<int>(*tokens)};
  if (model != nullptr && !ngram) draft_model = Stated{model->value, model->where};
}

std::optional<bool> switched(const Deployment& deployment, std::string_view name) {
  const EnvironmentVariable* one = variable(deployment, name);
  if (one == nullptr || (one->value != "0" && one->value != "1")) return std::nullopt;
  return one->value == "1";
}

}  // namespace

planner::Serving serving_of(const Deployment& deployment, std::optional<Stated>& draft_model) {
  const Reader reader(deployment);
  Serving out;
  lengths(reader, out);
  parallel(reader, out);
  cache(reader, deployment, out);
  graphs(reader, out);
  multimodal(reader, out);
  speculation(reader, out, draft_model);
  out.enable_chunked_prefill = reader.toggle("enable-chunked-prefill");
  out.async_scheduling = reader.toggle("async-scheduling");
  out.dtype = reader.text("dtype", "auto");
  out.enable_lora = reader.toggle("enable-lora").value_or(false);
  out.max_loras = reader.count("max-loras").value_or(1);
  out.max_lora_rank = reader.count("max-lora-rank").value_or(16);
  out.cpu_offload_gb = reader.number("cpu-offload-gb", 0, 1e5).value_or(0);
  out.enable_sleep_mode = reader.toggle("enable-sleep-mode").value_or(false);
  out.v2_model_runner = switched(deployment, "VLLM_USE_V2_MODEL_RUNNER");
  out.estimate_cuda_graphs = switched(deployment, "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS");
  return out;
}

bool allows_long_context(const Deployment& deployment) {
  return switched(deployment, "VLLM_ALLOW_LONG_MAX_MODEL_LEN").value_or(false);
}

}  // namespace kvfit::runtime
