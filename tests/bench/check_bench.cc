#include "tests/bench/check_bench.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace kvfit::bench {
namespace {

constexpr std::array kModels = {"Qwen/Qwen3-8B",
                                "Qwen/Qwen3-32B",
                                "meta-llama/Llama-3.1-8B-Instruct",
                                "openai/gpt-oss-20b",
                                "google/gemma-2-9b-it",
                                "Qwen/Qwen3-30B-A3B-Instruct-2507",
                                "microsoft/phi-4",
                                "mistralai/Mistral-Small-3.1-24B-Instruct-2503",
                                "Qwen/Qwen3.6-27B-FP8",
                                "deepseek-ai/DeepSeek-V2-Lite-Chat",
                                "unsloth/Qwen3.6-35B-A3B-NVFP4",
                                "ibm-granite/granite-3.3-8b-instruct"};

std::string compose(const std::string& model, const std::string& length) {
  return "services:\n  llm:\n    image: vllm/vllm-openai:v0.24.0\n    command:\n      - --model\n      - " + model +
         "\n      - --max-model-len\n      - \"" + length + "\"\n      - --max-num-seqs\n      - \"32\"\n" +
         "    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}}\n";
}

std::string manifest(const std::string& model, const std::string& length) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: llm}\nspec:\n  template:\n    spec:\n      containers:\n"
         "        - name: vllm\n          image: vllm/vllm-openai:v0.24.0\n          args: [\"" +
         model + "\", --max-model-len, \"" + length +
         "\", --max-num-seqs, \"32\"]\n          resources: {limits: {nvidia.com/gpu: \"1\"}}\n";
}

std::string script(const std::string& model, const std::string& length) {
  return "#!/bin/sh\nMODEL=" + model + "\nexec vllm serve \"$MODEL\" \\\n  --max-model-len " + length +
         " \\\n  --max-num-seqs 32\n";
}

}  // namespace

void make_deployments(const std::string& directory, int files) {
  for (int i = 0; i < files; ++i) {
    const std::string model = kModels[static_cast<std::size_t>(i) % kModels.size()];
    const std::string length = std::to_string(4096 + 1024 * (i % 8));
    const std::string name = directory + "/team" + std::to_string(i % 10) + "/llm" + std::to_string(i);
    std::filesystem::create_directories(std::filesystem::path(name).parent_path());
    if (i % 3 == 0) {
      std::ofstream(name + ".yaml") << compose(model, length);
    } else if (i % 3 == 1) {
      std::ofstream(name + ".yml") << manifest(model, length);
    } else {
      std::ofstream(name + ".sh") << script(model, length);
    }
  }
}

}  // namespace kvfit::bench
