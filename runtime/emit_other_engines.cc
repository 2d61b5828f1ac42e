// SGLang and llama.cpp: what a plan decided in their words. Their own memory is not planned; the header of the file says so.
// Sources: profiles/serving/sglang.yaml, llama-server.yaml; sglang/srt/model_executor: the static share holds weights and
// the KV pool, of the memory that is free before the weights are loaded.
#include <cmath>
#include <string>
#include <vector>

#include "profiles/error.h"
#include "profiles/text.h"
#include "runtime/emit.h"

namespace kvfit::runtime {
namespace {

using profiles::fail_input;
using profiles::format;

std::string kv_type(const ServingUnit& unit) {
  const std::map<std::string, std::string, std::less<>>::const_iterator found =
      unit.other.kv_cache_dtypes.find(unit.settings.kv_cache_dtype);
  if (found != unit.other.kv_cache_dtypes.end()) return found->second;
  fail_input(format("{} has no KV cache of type {}", unit.other.id, unit.settings.kv_cache_dtype), {},
             "plan with another one: --kv-cache-dtype auto or fp8");
}

std::string lines(const std::string& program, const std::vector<ServeFlag>& flags) {
  std::string out = program;
  for (const ServeFlag& flag : flags) {
    out += " \\\n  " + flag.name;
    if (!flag.value.empty()) out += " " + shell_quoted(flag.value);
  }
  return out + "\n";
}

int port_of(const ServingUnit& unit) { return unit.port != unit.default_port ? unit.port : unit.other.port; }

// Rounded down: three digits are what people write, and less is safe.
double static_share(const ServingUnit& unit) {
  const double share = static_cast<double>(unit.static_memory.count) / static_cast<double>(unit.device_memory.count);
  return std::floor(share * 1000) / 1000;
}

}  // namespace

std::string sglang_file(const ServingUnit& unit) {
  if (unit.device_memory.count <= 0) fail_input("this plan holds no memory to share out", {}, "see kvfit plan");
  const planner::Settings& settings = unit.settings;
  std::vector<ServeFlag> flags = {{"--model-path", unit.command.model},
                                  {"--context-length", std::to_string(settings.max_model_len)},
                                  {"--max-running-requests", std::to_string(settings.max_num_seqs)},
                                  {"--mem-fraction-static", format("{:.3f}", static_share(unit))},
                                  {"--kv-cache-dtype", kv_type(unit)}};
  if (settings.chunked_prefill && settings.max_num_batched_tokens > 0) {
    flags.push_back({"--chunked-prefill-size", std::to_string(settings.max_num_batched_tokens)});
  }
  if (settings.tp > 1) flags.push_back({"--tensor-parallel-size", std::to_string(settings.tp)});
  if (settings.pp > 1) flags.push_back({"--pipeline-parallel-size", std::to_string(settings.pp)});
  if (settings.dp > 1) flags.push_back({"--data-parallel-size", std::to_string(settings.dp)});
  if (settings.expert_parallel > 1) flags.push_back({"--expert-parallel-size", std::to_string(settings.expert_parallel)});
  if (settings.eager) flags.push_back({"--disable-cuda-graph", ""});
  if (!settings.prefix_caching) flags.push_back({"--disable-radix-cache", ""});
  flags.push_back({"--port", std::to_string(port_of(unit))});
  std::string out = "#!/bin/sh\n" + comments(unit);
  out += format(
      "# Planned for vLLM, not for SGLang {}: the static share is the plan's weights and pool ({} tokens) of a\n"
      "# whole GPU; what SGLang takes beside it is its own. Should the start fail, lower --mem-fraction-static.\n",
      unit.other.version, profiles::grouped(unit.kv_tokens));
  if (!settings.speculative_method.empty()) {
    out += format("# Left out: speculation by {}; SGLang's --speculative-algorithm takes other words.\n",
                  settings.speculative_method);
  }
  out += format("# once: pip install 'sglang[all]=={}'\n", unit.other.version);
  return out + lines("python3 -m sglang.launch_server", flags);
}

std::string llama_server_file(const ServingUnit& unit) {
  if (unit.gguf.empty()) {
    fail_input("llama-server reads GGUF, which this model is not", {},
               "name the same model as GGUF: --gguf FILE.gguf or --gguf ORG/REPOSITORY:QUANT");
  }
  const planner::Settings& settings = unit.settings;
  const bool file = unit.gguf.ends_with(".gguf");
  const std::string type = kv_type(unit);
  const std::int64_t context =
      settings.max_model_len * (unit.other.context_is_shared ? settings.max_num_seqs : std::int64_t{1});
  std::vector<ServeFlag> flags = {{file ? "--model" : "--hf-repo", unit.gguf},
                                  {"--ctx-size", std::to_string(context)},
                                  {"--parallel", std::to_string(settings.max_num_seqs)},
                                  {"--cache-type-k", type},
                                  {"--cache-type-v", type},
                                  {"--flash-attn", "on"},
                                  {"--n-gpu-layers", "all"}};
  if (unit.gpus > 1) flags.push_back({"--split-mode", settings.tp > 1 ? "row" : "layer"});
  flags.push_back({"--port", std::to_string(port_of(unit))});
  std::string out = "#!/bin/sh\n" + comments(unit);
  out += format(
      "# Planned for vLLM and its weights, not for llama.cpp {} and this GGUF: its own --fit stays on and may lower\n"
      "# what follows. --ctx-size is one context for all {} slots, {} tokens each.\n",
      unit.other.version, settings.max_num_seqs, profiles::grouped(settings.max_model_len));
  return out + lines("llama-server", flags);
}

}  // namespace kvfit::runtime
