#include "runtime/serve_command.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/model.h"
#include "planner/settings.h"
#include "profiles/json.h"
#include "profiles/spelling.h"
#include "profiles/text.h"

namespace kvfit::runtime {
namespace {

using planner::Plan;
using planner::Question;
using planner::Serving;
using planner::Settings;
using profiles::format;
using profiles::Json;

class Flags {
 public:
  void value(std::string name, std::string text) { flags_.push_back({std::move(name), std::move(text)}); }
  void number(std::string name, std::int64_t n) { value(std::move(name), std::to_string(n)); }
  void more_than_one(std::string name, std::int64_t n) {
    if (n > 1) number(std::move(name), n);
  }
  void on(std::string name, bool wanted) {
    if (wanted) value(std::move(name), "");
  }
  std::vector<ServeFlag> take() { return std::move(flags_); }

 private:
  std::vector<ServeFlag> flags_;
};

// 0.94 as "0.94", 0.925 as "0.925": no digits that nobody wrote.
std::string decimal(double value) {
  std::string text = format("{:.4f}", value);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.push_back('0');
  return text;
}

void memory_flags(Flags& flags, const Serving& serving, const Settings& settings) {
  if (settings.auto_max_model_len) {
    flags.value("--max-model-len", "auto");
  } else {
    flags.number("--max-model-len", settings.max_model_len);
  }
  flags.number("--max-num-seqs", settings.max_num_seqs);
  if (serving.max_num_batched_tokens) flags.number("--max-num-batched-tokens", settings.max_num_batched_tokens);
  if (serving.kv_cache_memory_bytes) {
    flags.number("--kv-cache-memory-bytes", serving.kv_cache_memory_bytes->count);
  } else {
    flags.value("--gpu-memory-utilization", decimal(settings.gpu_memory_utilization));
  }
  if (serving.kv_cache_dtype != "auto") flags.value("--kv-cache-dtype", serving.kv_cache_dtype);
  if (serving.block_size) flags.number("--block-size", *serving.block_size);
  if (serving.num_gpu_blocks_override) flags.number("--num-gpu-blocks-override", *serving.num_gpu_blocks_override);
  if (serving.cpu_offload_gb > 0) flags.value("--cpu-offload-gb", decimal(serving.cpu_offload_gb));
}

void parallel_flags(Flags& flags, const Serving& serving) {
  flags.more_than_one("--tensor-parallel-size", serving.tensor_parallel_size);
  flags.more_than_one("--pipeline-parallel-size", serving.pipeline_parallel_size);
  flags.more_than_one("--data-parallel-size", serving.data_parallel_size);
  flags.more_than_one("--decode-context-parallel-size", serving.decode_context_parallel_size);
  flags.on("--enable-expert-parallel", serving.enable_expert_parallel);
  flags.on("--enable-eplb", serving.enable_eplb);
  if (serving.num_redundant_experts > 0) {
    flags.value("--eplb-config", Json({{"num_redundant_experts", serving.num_redundant_experts}}).dump());
  }
}

void multimodal_and_draft_flags(Flags& flags, const Question& question, const Settings& settings) {
  const Serving& serving = question.serving;
  if (question.model.vision && !settings.vision) flags.value("--limit-mm-per-prompt", R"({"image":0,"video":0})");
  flags.on("--skip-mm-profiling", serving.skip_mm_profiling);
  if (!serving.speculative || serving.speculative->tokens <= 0) return;
  Json config = {{"method", serving.speculative->method}, {"num_speculative_tokens", serving.speculative->tokens}};
  if (serving.speculative->draft) config["model"] = serving.speculative->draft->repository;
  flags.value("--speculative-config", config.dump());
}

void engine_flags(Flags& flags, const Serving& serving) {
  if (serving.enable_prefix_caching) {
    flags.on(*serving.enable_prefix_caching ? "--enable-prefix-caching" : "--no-enable-prefix-caching", true);
  }
  flags.on("--enforce-eager", serving.enforce_eager.value_or(false));
  if (serving.mamba_ssm_cache_dtype != "auto") flags.value("--mamba-ssm-cache-dtype", serving.mamba_ssm_cache_dtype);
  if (!serving.mamba_cache_mode.empty()) flags.value("--mamba-cache-mode", serving.mamba_cache_mode);
  if (!serving.attention_backend.empty()) flags.value("--attention-backend", serving.attention_backend);
  if (!serving.quantization.empty()) flags.value("--quantization", serving.quantization);
  if (!serving.moe_backend.empty()) flags.value("--moe-backend", serving.moe_backend);
  if (serving.dtype != "auto") flags.value("--dtype", serving.dtype);
  if (serving.max_cudagraph_capture_size) {
    flags.number("--max-cudagraph-capture-size", *serving.max_cudagraph_capture_size);
  }
  if (serving.enable_lora) {
    flags.on("--enable-lora", true);
    flags.number("--max-loras", serving.max_loras);
    flags.number("--max-lora-rank", serving.max_lora_rank);
  }
  flags.on("--enable-sleep-mode", serving.enable_sleep_mode);
  flags.on("--disable-hybrid-kv-cache-manager", serving.disable_hybrid_kv_cache_manager);
}

// A carved model is a directory named after its parent: "./Qwen3.6-35B-A3B-NVFP4-192e".
std::string model_argument(const Question& question, const Plan& plan) {
  const models::Model& model = question.model;
  const std::string name = model.repository.empty() ? model.id : model.repository;
  if (plan.experts == 0 || plan.experts == models::expert_count(model)) return name;
  const std::size_t slash = name.rfind('/');
  return format("./{}-{}e", slash == std::string::npos ? name : name.substr(slash + 1), plan.experts);
}

}  // namespace

ServeCommand serve_command(const Question& question, const Plan& plan) {
  Flags flags;
  memory_flags(flags, question.serving, plan.settings);
  parallel_flags(flags, question.serving);
  multimodal_and_draft_flags(flags, question, plan.settings);
  engine_flags(flags, question.serving);
  ServeCommand out{.model = model_argument(question, plan), .flags = flags.take(), .environment = {}};
  if (question.serving.v2_model_runner) {
    out.environment.push_back(format("VLLM_USE_V2_MODEL_RUNNER={}", *question.serving.v2_model_runner ? 1 : 0));
  }
  if (question.serving.estimate_cuda_graphs) {
    out.environment.push_back(
        format("VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS={}", *question.serving.estimate_cuda_graphs ? 1 : 0));
  }
  return out;
}

std::string shell_quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) || std::string_view("-_./:=,+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return plain ? word : profiles::single_quoted(word);
}

std::string shell_text(const ServeCommand& command) {
  std::string out;
  for (const std::string& variable : command.environment) out += variable + " ";
  out += "vllm serve " + shell_quoted(command.model);
  for (const ServeFlag& flag : command.flags) {
    out += " \\\n  " + flag.name;
    if (!flag.value.empty()) out += " " + shell_quoted(flag.value);
  }
  return out;
}

std::vector<std::string> argument_list(const ServeCommand& command) {
  std::vector<std::string> out = {"vllm", "serve", command.model};
  for (const ServeFlag& flag : command.flags) {
    out.push_back(flag.name);
    if (!flag.value.empty()) out.push_back(flag.value);
  }
  return out;
}

}  // namespace kvfit::runtime
