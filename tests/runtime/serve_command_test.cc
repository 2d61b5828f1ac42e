#include "runtime/serve_command.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace kvfit::runtime {
namespace {

using planner::Plan;
using planner::Question;

// The published serve line of the 192-expert carve of Qwen3.6-35B-A3B on a 24 GB laptop 5090.
Question published_question() {
  Question question;
  question.model.repository = "unsloth/Qwen3.6-35B-A3B-NVFP4";
  question.model.vision = models::Vision{};
  question.model.layers.resize(1);
  question.model.layers[0].moe = models::Moe{.experts = 256, .top_k = 8, .intermediate = 512};
  question.serving.kv_cache_dtype = "fp8";
  question.serving.speculative = planner::Speculative{.method = "qwen3_5_mtp", .tokens = 4};
  return question;
}

Plan published_plan() {
  Plan plan;
  plan.experts = 192;
  plan.settings.max_model_len = 8192;
  plan.settings.max_num_seqs = 16;
  plan.settings.gpu_memory_utilization = 0.94;
  return plan;
}

TEST_CASE("the published serve line of the 28B rung comes out flag by flag") {
  CHECK(shell_text(serve_command(published_question(), published_plan())) ==
        "vllm serve ./Qwen3.6-35B-A3B-NVFP4-192e \\\n"
        "  --max-model-len 8192 \\\n"
        "  --max-num-seqs 16 \\\n"
        "  --gpu-memory-utilization 0.94 \\\n"
        "  --kv-cache-dtype fp8 \\\n"
        "  --limit-mm-per-prompt '{\"image\":0,\"video\":0}' \\\n"
        "  --speculative-config '{\"method\":\"qwen3_5_mtp\",\"num_speculative_tokens\":4}'");
}

TEST_CASE("a pinned KV pool replaces the utilisation, never both") {
  Question question = published_question();
  question.serving.kv_cache_memory_bytes = profiles::gib(2);
  const std::string text = shell_text(serve_command(question, published_plan()));
  CHECK(text.find("--kv-cache-memory-bytes 2147483648") != std::string::npos);
  CHECK(text.find("--gpu-memory-utilization") == std::string::npos);
}

TEST_CASE("an uncarved model keeps its repository name, and engine defaults are not written") {
  Question question = published_question();
  question.serving.kv_cache_dtype = "auto";
  question.serving.speculative.reset();
  Plan plan = published_plan();
  plan.experts = 256;
  plan.settings.vision = true;
  const std::vector<std::string> expected = {"vllm",
                                             "serve",
                                             "unsloth/Qwen3.6-35B-A3B-NVFP4",
                                             "--max-model-len",
                                             "8192",
                                             "--max-num-seqs",
                                             "16",
                                             "--gpu-memory-utilization",
                                             "0.94"};
  CHECK(argument_list(serve_command(question, plan)) == expected);
}

TEST_CASE("words are quoted only where a shell needs it") {
  CHECK(shell_quoted("a/b-c.d:e=1,2") == "a/b-c.d:e=1,2");
  CHECK(shell_quoted("") == "''");
  CHECK(shell_quoted("it's $HOME") == "'it'\\''s $HOME'");
}

}  // namespace
}  // namespace kvfit::runtime
