#include "runtime/log_settings.h"

#include <doctest/doctest.h>

#include <string>

#include "profiles/catalog.h"

namespace kvfit::runtime {
namespace {

FlagTable flags() {
  const profiles::Catalog catalog;
  return FlagTable(catalog.load(catalog.resolve("flags", "vllm")));
}

TEST_CASE("Python's text of a dictionary is read as JSON, what is no literal as null") {
  CHECK(json_of_python(R"({'a': 1, 'b': True, 'c': None, 'd': "it's", 'e': [1, 2.5], 'f': (1,), 'g': {'h': -1}})") ==
        R"({"a":1,"b":true,"c":null,"d":"it's","e":[1,2.5],"f":[1],"g":{"h":-1}})");
  CHECK(json_of_python("{'mode': <Mode.FULL: 2>, 'config': Config(level=3, text='a)b', n=[1]), 'n': 4}") ==
        R"({"mode":null,"config":null,"n":4})");
  CHECK(json_of_python(" {'a': 'b\\'c'} and more") == R"({"a":"b'c"})");
  CHECK(json_of_python("no dictionary").empty());
  CHECK(json_of_python("{'a': 1").empty());
  CHECK(json_of_python("{'a': " + std::string(5000, '[')).empty());
  CHECK(json_of_python("{'a': X" + std::string(5000, '(')).empty());
}

TEST_CASE("the engine's list of arguments is understood flag by flag, and leaves alone what it does not state") {
  const BootLog log = read_boot_log(
      "INFO [utils.py:1] non-default args: {'model': 'Qwen/Qwen3-8B', 'max_num_seqs': 64, 'block_size': 32, "
      "'cudagraph_capture_sizes': [1, 2, 4], 'limit_mm_per_prompt': {'image': 0, 'video': 0}, 'enable_expert_parallel': "
      "True, "
      "'speculative_config': {'method': 'mtp', 'num_speculative_tokens': 3}, 'port': 8001}\n");
  planner::Serving base;
  base.gpu_memory_utilization = 0.85;
  const planner::Serving serving = arguments_from_log(log, flags(), base);
  CHECK(serving.max_num_seqs == 64);
  CHECK(serving.block_size == 32);
  CHECK(serving.cudagraph_capture_sizes == std::vector<std::int64_t>{1, 2, 4});
  CHECK(serving.language_model_only == true);
  CHECK(serving.enable_expert_parallel);
  CHECK(serving.speculative->method == "mtp");
  CHECK(serving.speculative->tokens == 3);
  CHECK(serving.gpu_memory_utilization == 0.85);
}

TEST_CASE("the length is the one the engine ended with") {
  const auto length = [](const std::string& text) { return settings_from_log(read_boot_log(text), {}).max_model_len; };
  const std::string engine = "Initializing a V1 LLM engine (v0.19.0) with config: model='m', max_seq_len=8192\n";
  CHECK(length(engine) == 8192);
  CHECK(length("Maximum concurrency for 4,096 tokens per request: 2.00x\n") == 4096);
  CHECK(length(engine +
               "Auto-fit max_model_len: reduced from 8192 to 6144 to fit in available GPU memory (1.5 GiB available "
               "for KV cache)\nMaximum concurrency for 6,144 tokens per request: 1.00x\n") == 6144);
  CHECK(length("the model's max seq len (2048), (9.29 GiB KV cache is needed, which is larger than the available KV cache "
               "memory (9.28 GiB)") == 2048);
  CHECK_FALSE(length("Model loading took 14.99 GiB\n"));
}

// 75.23 / 79.19 = 0.94999, and both are rounded to a hundredth: 0.95.
TEST_CASE("requested memory over total is the utilisation where the log does not print it") {
  const planner::Serving serving = settings_from_log(
      read_boot_log(
          "Free memory on device (78.68/79.19 GiB) on startup. Desired GPU memory utilization is (nan, 75.23 GiB).\n"),
      {});
  CHECK(serving.gpu_memory_utilization == 0.95);
  CHECK(settings_from_log(read_boot_log("The current --gpu-memory-utilization=0.9200 is equivalent to "
                                        "--gpu-memory-utilization=0.9042 without CUDA graph memory profiling.\n"),
                          {})
            .gpu_memory_utilization == 0.92);
}

TEST_CASE("speculation, a pinned cache and overridden blocks are taken from the log") {
  const planner::Serving serving = settings_from_log(
      read_boot_log(
          "Initializing a V1 LLM engine (v0.26.0) with config: model='m', "
          "speculative_config=SpeculativeConfig(method='eagle3', model='ORG/draft', num_spec_tokens=3)\n"
          "Initial free memory 78.68 GiB, reserved 4.00 GiB memory for KV Cache as specified by kv_cache_memory_bytes "
          "config and skipped memory profiling\nOverriding num_gpu_blocks=100 with num_gpu_blocks_override=64\n"),
      {});
  CHECK(serving.speculative->method == "eagle3");
  CHECK(serving.speculative->tokens == 3);
  CHECK(serving.kv_cache_memory_bytes == profiles::gib(4));
  CHECK(serving.num_gpu_blocks_override == 64);
}

}  // namespace
}  // namespace kvfit::runtime
