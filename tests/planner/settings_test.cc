// Defaults as the engine's version fills them in for a GPU and a model.
#include "planner/settings.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

#include "profiles/error.h"
#include "tests/planner/kv_support.h"

namespace kvfit::planner {
namespace {

using hardware::ByteRange;
using profiles::DType;

Question ask(std::string_view model, int capability, double gib, const std::string& version) {
  Question out;
  out.node.gpu.capability = {capability / 10, capability % 10};
  const profiles::Bytes total = profiles::from_gib(gib);
  out.node.gpu.cuda_total_linux.value = ByteRange{total, total, total};
  out.model = test::model(model);
  out.model.max_position = 262144;
  out.rules = std::make_shared<const Rules>(test::vllm_rules(version));
  return out;
}

Settings settle(const Question& question) { return resolve_settings(question, stated_traits(question)); }

TEST_CASE("batch defaults follow the memory CUDA reports") {
  CHECK(settle(ask("qwen3-30b", 90, 79.19, "0.24")).max_num_batched_tokens == 8192);
  CHECK(settle(ask("qwen3-30b", 90, 79.19, "0.24")).max_num_seqs == 1024);
  CHECK(settle(ask("qwen3-30b", 120, 31.37, "0.24")).max_num_batched_tokens == 2048);
  CHECK(settle(ask("qwen3-30b", 120, 31.37, "0.24")).max_num_seqs == 256);
  CHECK(settle(ask("qwen3-30b", 80, 79.25, "0.24")).max_num_seqs == 256);   // A100
  CHECK(settle(ask("qwen3-30b", 89, 44.4, "0.8.3")).max_num_seqs == 1024);  // vllm-project/vllm#16158 came with 0.8.4
  CHECK(settle(ask("qwen3-30b", 89, 44.4, "0.8.4")).max_num_seqs == 256);
  CHECK(settle(ask("qwen3-30b", 90, 79.19, "0.8.4")).max_num_seqs == 1024);
  CHECK(settle(ask("qwen3-30b", 100, 178.35, "0.27")).max_num_batched_tokens == 8192);
  CHECK(settle(ask("qwen3-30b", 100, 178.35, "0.28")).max_num_batched_tokens == 16384);
}

// NVML answers Not Supported for the memory of a GB10, and the engine goes on with 0.
TEST_CASE("batch defaults of unified memory are those of the smallest card") {
  Question question = ask("qwen3-30b", 121, 121.69, "0.27");
  CHECK(settle(question).max_num_batched_tokens == 8192);
  question.node.gpu.unified = true;
  CHECK(settle(question).max_num_batched_tokens == 2048);
  CHECK(settle(question).max_num_seqs == 256);
}

TEST_CASE("the first engine took whole prompts up to 32,768 tokens and chunks of 2,048 beyond") {
  for (const auto& [length, batch] : {std::pair<std::int64_t, std::int64_t>{8192, 8192}, {32768, 32768}, {40960, 2048}}) {
    Question question = ask("qwen3-30b", 90, 79.19, "0.7.3");
    question.serving.max_model_len = length;
    CHECK(settle(question).max_num_batched_tokens == batch);
  }
}

TEST_CASE("defaults shrink to S x L and T, stated values stand") {
  Question question = ask("qwen3-30b", 90, 79.19, "0.24");
  question.serving.max_model_len = 100;
  question.serving.max_num_seqs = 4;
  CHECK(settle(question).max_num_batched_tokens == 400);
  question.serving.max_num_batched_tokens = 8192;
  CHECK(settle(question).max_num_batched_tokens == 8192);
  question.serving.max_num_seqs.reset();
  question.serving.max_num_batched_tokens = 512;
  CHECK(settle(question).max_num_seqs == 512);
  question.serving.enable_chunked_prefill = false;
  question.serving.max_num_batched_tokens.reset();
  question.serving.max_model_len = 65536;
  CHECK(settle(question).max_num_batched_tokens == 65536);
}

TEST_CASE("auto length starts at the model's limit") {
  Question question = ask("qwen3-30b", 90, 79.19, "0.24");
  CHECK(!settle(question).auto_max_model_len);
  question.serving.max_model_len = -1;
  CHECK(settle(question).auto_max_model_len);
  CHECK(settle(question).max_model_len == 262144);
}

TEST_CASE("utilisation is 0.90 up to v0.20 and 0.92 from v0.21") {
  CHECK(settle(ask("qwen3-30b", 90, 79.19, "0.20")).gpu_memory_utilization == 0.90);
  CHECK(settle(ask("qwen3-30b", 90, 79.19, "0.21")).gpu_memory_utilization == 0.92);
}

TEST_CASE("hybrids cache prefixes only when asked up to v0.25, by default from v0.26") {
  CHECK(settle(ask("35B-A3B", 120, 31.37, "0.24")).mamba_mode == MambaMode::none);
  CHECK(!settle(ask("35B-A3B", 120, 31.37, "0.24")).prefix_caching);
  CHECK(settle(ask("35B-A3B", 120, 31.37, "0.26")).mamba_mode == MambaMode::align);
  Question question = ask("35B-A3B", 120, 31.37, "0.24");
  question.serving.enable_prefix_caching = true;
  CHECK(settle(question).mamba_mode == MambaMode::align);
  question.serving.mamba_cache_mode = "all";  // gated delta nets cannot: the engine falls back
  CHECK(settle(question).mamba_mode == MambaMode::align);
  question.rules = std::make_shared<const Rules>(test::vllm_rules("0.14"));
  CHECK(settle(question).mamba_mode == MambaMode::none);
  CHECK(!settle(question).prefix_caching);
}

TEST_CASE("states keep the type the checkpoint names unless the command line says otherwise") {
  Question question = ask("27B", 90, 79.19, "0.24");
  CHECK(settle(question).state_dtype == DType::f32);
  question.serving.mamba_ssm_cache_dtype = "bfloat16";
  CHECK(settle(question).state_dtype == DType::bf16);
}

TEST_CASE("auto KV is what the checkpoint declares, else the model's type") {
  Question question = ask("35B-A3B", 120, 31.37, "0.24");
  CHECK(settle(question).kv_cache_dtype == "bf16");
  question.model.quantization.kv_cache = "fp8";
  question.model.quantization.method = "modelopt";
  CHECK(settle(question).kv_cache_dtype == "fp8_e4m3");
  question.serving.kv_cache_dtype = "bfloat16";
  CHECK(settle(question).kv_cache_dtype == "bf16");
  question.serving.kv_cache_dtype = "fp8";
  CHECK(settle(question).kv_cache_dtype == "fp8_e4m3");
}

TEST_CASE("sparse latent attention stores fp8 in its own layout") {
  Question question = ask("glm-5", 90, 139.8, "0.24");
  CHECK(settle(question).kv_cache_dtype == "bf16");
  CHECK(settle(question).block_size == 64);
  question.serving.kv_cache_dtype = "fp8";
  CHECK(settle(question).kv_cache_dtype == "fp8_ds_mla");
  question.node.gpu.capability = {10, 0};
  CHECK(settle(question).kv_cache_dtype == "fp8_e4m3");
}

TEST_CASE("in flight: one batch up to v0.25, two from v0.26, one a stage with pipelines") {
  Question question = ask("gpt-oss-20b", 90, 79.19, "0.25");
  CHECK(settle(question).in_flight_tokens == 8192);
  question.rules = std::make_shared<const Rules>(test::vllm_rules("0.26"));
  CHECK(settle(question).in_flight_tokens == 16384);
  question.serving.async_scheduling = false;
  question.serving.v2_model_runner = false;
  CHECK(settle(question).in_flight_tokens == 8192);
  question.serving.v2_model_runner = true;
  question.serving.pipeline_parallel_size = 2;
  CHECK(settle(question).in_flight_tokens == 3 * 8192);
}

TEST_CASE("CUDA graphs: 51 sizes up to 512, decode sizes captured whole too") {
  const Question question = ask("qwen3-30b", 90, 79.19, "0.24");
  CHECK(settle(question).capture_sizes.size() == 51);
  CHECK(settle(question).full_capture_sizes == 51);
  CHECK(settle(question).capture_sizes.back() == 512);
  Question small = question;
  small.serving.max_num_seqs = 16;
  CHECK(settle(small).capture_sizes == std::vector<std::int64_t>{1, 2, 4, 8, 16, 24, 32});
  CHECK(settle(small).full_capture_sizes == 5);
  small.serving.enforce_eager = true;
  CHECK(settle(small).capture_sizes.empty());
  CHECK(!settle(small).graph_estimate_applied);
  Question old = ask("qwen3-30b", 90, 79.19, "0.10");
  CHECK(settle(old).capture_sizes.size() == 67);
  CHECK(settle(old).full_capture_sizes == 0);
}

TEST_CASE("drafted tokens: sizes are whole requests") {
  Question question = ask("27B", 90, 79.19, "0.24");
  question.serving.max_num_seqs = 4;
  question.serving.speculative = Speculative{"mtp", 2, nullptr, nullptr};
  // largest = min(4 x 3 x 2, 512) = 24: 1 2 4 8 16 24 rounded up to multiples of three; 18 and 24 are, 16 -> 18
  CHECK(settle(question).capture_sizes == std::vector<std::int64_t>{3, 6, 9, 18, 24});
  CHECK(settle(question).full_capture_sizes == 3);
}

TEST_CASE("graph estimates: printed from v0.18, charged from v0.21, never by the V2 runner") {
  CHECK(!settle(ask("35B-A3B", 90, 79.19, "0.20")).graph_estimate_applied);
  CHECK(settle(ask("35B-A3B", 90, 79.19, "0.21")).graph_estimate_applied);
  Question question = ask("35B-A3B", 90, 79.19, "0.24");
  question.serving.v2_model_runner = true;
  CHECK(!settle(question).graph_estimate_applied);
  question.serving.v2_model_runner = false;
  question.serving.estimate_cuda_graphs = false;
  CHECK(!settle(question).graph_estimate_applied);
}

std::string error_of(const Question& question) {
  try {
    settle(question);
  } catch (const profiles::Error& error) {
    return error.text();
  }
  return "no error";
}

TEST_CASE("settings that cannot be are refused in words") {
  Question question = ask("qwen3-30b", 90, 79.19, "0.24");
  question.serving.max_num_seqs = 0;
  CHECK(error_of(question) == "error: max_num_seqs must be positive, not 0");
  question.serving.max_num_seqs = 8;
  question.serving.gpu_memory_utilization = 1.5;
  CHECK(error_of(question) == "error: gpu_memory_utilization must be above 0 and at most 1, not 1.5");
  question.serving.gpu_memory_utilization = 0.9;
  question.serving.decode_context_parallel_size = 3;
  CHECK(error_of(question) == "error: decode_context_parallel_size 3 does not divide tensor_parallel_size 1");
  question.serving.decode_context_parallel_size = 1;
  question.serving.dtype = "fp99";
  CHECK(error_of(question) == "error: unknown dtype 'fp99'\n  help: one of auto, bfloat16, float16, float32");
  question.serving.dtype = "auto";
  question.serving.kv_cache_dtype = "fp5";
  CHECK(error_of(question) ==
        "error: unknown kv_cache_dtype 'fp5'\n  help: one of auto, bfloat16, fp8, fp8_e5m2, nvfp4, int8_per_token_head ...");
}

TEST_CASE("every trait a rule may ask is filled in") {
  const Question question = ask("35B-A3B", 120, 31.37, "0.24");
  const Traits traits = traits_of(question);
  for (const TraitName& name : trait_names()) {
    if (name.name == "format" || name.name == "expert_format") continue;  // need the checkpoint's module names
    CAPTURE(name.name);
    REQUIRE(traits.contains(name.name));
    CHECK(std::holds_alternative<double>(traits.at(std::string(name.name))) == (name.kind == TraitKind::number));
  }
}

}  // namespace
}  // namespace kvfit::planner
