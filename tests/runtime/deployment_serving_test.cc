// Flags and environment as the planner understands them.
#include "runtime/deployment_serving.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/runtime/deployment_support.h"

namespace {

using namespace kvfit;
using namespace kvfit::tests;

planner::Serving serving(const std::string& flags, const std::string& before = "") {
  std::optional<runtime::Stated> draft;
  return runtime::serving_of(deployments(before + " vllm serve a/b " + flags, "a.sh")[0], draft);
}

std::string fault(const std::string& flags) {
  try {
    (void)serving(flags);
  } catch (const profiles::Error& error) {
    return error.message();
  }
  return "no error";
}

}  // namespace

TEST_CASE("nothing is filled in that nobody stated") {
  const planner::Serving out = serving("");
  CHECK_FALSE(out.max_model_len.has_value());
  CHECK_FALSE(out.max_num_seqs.has_value());
  CHECK_FALSE(out.gpu_memory_utilization.has_value());
  CHECK(out.kv_cache_dtype == "auto");
  CHECK(out.tensor_parallel_size == 1);
}

TEST_CASE("counts are human-readable as in the engine, auto is -1") {
  CHECK(serving("--max-model-len 32K").max_model_len == 32768);
  CHECK(serving("--max-model-len 32k").max_model_len == 32000);
  CHECK(serving("--max-model-len auto").max_model_len == -1);
  CHECK(serving("--max-model-len -1").max_model_len == -1);
  CHECK(serving("--gpu-memory-utilization 0.94").gpu_memory_utilization == 0.94);
  CHECK(serving("--kv-cache-memory-bytes 1G").kv_cache_memory_bytes == profiles::Bytes(1073741824));
}

TEST_CASE("vision is off when nothing may come in, or when only the language model is wanted") {
  CHECK(serving(R"(--limit-mm-per-prompt '{"image":0,"video":0}')").language_model_only == true);
  CHECK(serving("--limit-mm-per-prompt image=0,video=0").language_model_only == true);
  CHECK_FALSE(serving(R"(--limit-mm-per-prompt '{"image":1}')").language_model_only.has_value());
  CHECK(serving("--language-model-only").language_model_only == true);
}

TEST_CASE("speculation in all its spellings") {
  const planner::Serving mtp = serving(R"(--speculative-config '{"method":"qwen3_5_mtp","num_speculative_tokens":4}')");
  CHECK(mtp.speculative->method == "qwen3_5_mtp");
  CHECK(mtp.speculative->tokens == 4);
  CHECK(serving("--spec-method mtp --spec-tokens 2").speculative->tokens == 2);
  CHECK(serving("--speculative-model [ngram] --num-speculative-tokens 5").speculative->method == "ngram");
}

TEST_CASE("graphs: capture sizes, modes and level 0") {
  CHECK(serving("--cudagraph-capture-sizes 1 2 4").cudagraph_capture_sizes == std::vector<std::int64_t>{1, 2, 4});
  CHECK(serving("-cc.cudagraph_mode=none").cudagraph_mode == "NONE");
  CHECK(serving("-O0").enforce_eager == true);
  CHECK(serving(R"(-cc '{"mode":0}')").enforce_eager == true);
  CHECK_FALSE(serving("-O3").enforce_eager.has_value());
}

TEST_CASE("environment variables that change memory") {
  CHECK(serving("", "VLLM_USE_V2_MODEL_RUNNER=1").v2_model_runner == true);
  CHECK(serving("", "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0").estimate_cuda_graphs == false);
  CHECK(serving("", "VLLM_ATTENTION_BACKEND=FLASHINFER").attention_backend == "FLASHINFER");
  CHECK(serving("--attention-backend TRITON_ATTN", "VLLM_ATTENTION_BACKEND=FLASHINFER").attention_backend == "TRITON_ATTN");
}

TEST_CASE("a value that cannot be read names the flag") {
  CHECK(fault("--max-model-len many") == "--max-model-len wants a whole number, not 'many'");
  CHECK(fault("--gpu-memory-utilization 94") == "--gpu-memory-utilization wants a number from 0.01 to 1, not '94'");
  CHECK(fault("--limit-mm-per-prompt '{\"image\":'").starts_with("--limit-mm-per-prompt"));
  CHECK(fault("--speculative-config '{\"method\":\"mtp\"}'").starts_with("--speculative-config: missing key"));
}
