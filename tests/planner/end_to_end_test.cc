// Whole boots, from configuration to what the engine printed. Sources: the llm-d planner's recorded H100 runs (vLLM 0.15 to
// 0.19, utilisation 0.95, one H100 of 79.19 GiB) and the public threads named below; printed GiB have two decimals.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "planner/evaluator.h"
#include "planner/search.h"
#include "tests/planner/question_support.h"

namespace kvfit::planner {
namespace {

using profiles::from_gib;
using profiles::to_gib;
using test::ask;

Plan h100(const std::string& model, const std::string& version) {
  Question question = ask("h100-sxm", model, version);
  question.serving.gpu_memory_utilization = 0.95;
  question.serving.max_model_len = 8192;
  return evaluate(question);
}

bool within(Bytes predicted, double printed, double gib) { return std::fabs(to_gib(predicted) - printed) <= gib; }

// What the engine made of the bytes it printed as available.
KvCapacity given(const Question& question, double gib) {
  const Evaluator evaluator(question);
  return evaluator.capacity(evaluator.stated_point(), from_gib(gib));
}

TEST_CASE("Qwen3-30B-A3B on an H100, vLLM 0.19: 15.41 GiB for the cache, and it stays up") {
  const Plan plan = h100("Qwen/Qwen3-30B-A3B", "0.19");
  CHECK(within(plan.kv.available, 15.41, 0.03));
  CHECK(plan.verdict == Verdict::fits);
  Question question = ask("h100-sxm", "Qwen/Qwen3-30B-A3B", "0.19");
  question.serving.max_model_len = 8192;
  const KvCapacity kv = given(question, 15.41);
  CHECK(kv.bytes_per_block == Bytes(48LL * 32768));
  // The printed 168,288 tokens are 10,518 blocks; 15.405 to 15.415 GiB are 10,516 to 10,523.
  CHECK(std::abs(kv.num_gpu_blocks - 10518) <= 5);
  CHECK(kv.tokens == kv.num_gpu_blocks * 16);
  CHECK(kv.max_concurrency == doctest::Approx(20.54).epsilon(0.0005));
}

TEST_CASE("Qwen3-14B on an H100: the sampler of 0.17 gives back 3.4 GiB, graph profiling of 0.18 takes 0.1") {
  const struct {
    const char* version;
    double printed;
  } sweep[] = {{"0.15.1", 41.94}, {"0.16.0", 41.94}, {"0.17.0", 45.34}, {"0.18.0", 45.23}};
  for (const auto& [version, printed] : sweep) {
    CAPTURE(version);
    CHECK(within(h100("Qwen/Qwen3-14B", version).kv.available, printed, 0.02));
  }
}

TEST_CASE("Gemma-3-27B on an H100, vLLM 0.19: full and sliding layers in one pool") {
  CHECK(within(h100("google/gemma-3-27b-it", "0.19").kv.available, 19.53, 0.03));
  Question question = ask("h100-sxm", "google/gemma-3-27b-it", "0.19");
  question.serving.max_model_len = 8192;
  const KvCapacity kv = given(question, 19.53);
  CHECK(kv.bytes_per_block == Bytes(1310720));
  // The printed 15,997 blocks lie inside the rounding of 19.53 GiB: 19.525 to 19.535 GiB are 15,994 to 16,002 blocks.
  CHECK(std::abs(kv.num_gpu_blocks - 15997) <= 4);
  CHECK(std::abs(kv.tokens - 36560) <= 16);
  CHECK(kv.max_concurrency == doctest::Approx(4.46).epsilon(0.001));
}

TEST_CASE("Qwen3.6-35B-A3B NVFP4 with an fp8 cache on a 5090: 299 blocks of a hybrid") {
  Question question = ask("rtx5090-32g", "qwen3.6-35b-a3b-nvfp4-nvidia", "0.24");
  question.serving.kv_cache_dtype = "fp8";
  question.serving.max_model_len = 131072;
  question.serving.enable_prefix_caching = true;
  const KvCapacity less = given(question, 5.98);
  CHECK(less.bytes_per_block == Bytes(21463040));
  CHECK(less.num_gpu_blocks == 299);
  CHECK(less.blocks_per_request == 69);  // ceil(131072 / 2096) + 3 x 2
  CHECK(less.tokens == 567978);
  const KvCapacity more = given(question, 6.01);
  CHECK(more.num_gpu_blocks == 300);
  CHECK(more.tokens == 569878);
}

TEST_CASE("Qwen3.8-27B with three draft tokens on a 5090: the refusal's numbers") {
  Question question = ask("rtx5090-32g", "qwen3.8-27b-nvfp4-unsloth", "0.26");
  question.serving.kv_cache_dtype = "fp8";
  question.serving.max_model_len = 262144;
  question.serving.enable_prefix_caching = true;
  question.serving.speculative = Speculative{.method = "mtp", .tokens = 3};
  const KvCapacity kv = given(question, 9.28);
  CHECK(kv.blocks_per_request == 179);  // ceil(262144 / 1600) + 3 x 5
  CHECK(kv.needed == Bytes(179LL * 55705600));
  CHECK(kv.estimated_max_len == 260800);  // 163 x 1600
}

TEST_CASE("GLM-5.2 NVFP4 over four GB200: latent attention and the indexer share a block") {
  Question question = ask("gb200", "glm-5.2-nvfp4", "0.26");
  question.node.count = 4;
  question.serving.tensor_parallel_size = 4;
  question.serving.enable_expert_parallel = true;
  question.serving.kv_cache_dtype = "fp8";
  question.serving.max_model_len = 819200;
  const KvCapacity kv = given(question, 50.62);
  CHECK(kv.bytes_per_block == Bytes(3052800));  // 64 x (78 x 576 + 21 x 132)
  CHECK(kv.num_gpu_blocks == 17804);
  CHECK(kv.max_concurrency == doctest::Approx(1.39).epsilon(0.002));
  CHECK(kv.tokens == 1139456);
}

}  // namespace
}  // namespace kvfit::planner
