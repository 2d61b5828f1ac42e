#include "cli/serving_flags.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "profiles/error.h"

namespace {

using namespace kvfit;
using namespace kvfit::cli;

planner::Serving serving(std::vector<std::string> words, std::optional<std::string>* draft = nullptr) {
  words.insert(words.begin(), "plan");
  std::optional<std::string> model;
  planner::Serving out = serving_from(parse_args(words), model);
  if (draft != nullptr) *draft = model;
  return out;
}

std::string complaint(std::vector<std::string> words) {
  try {
    (void)serving(std::move(words));
  } catch (const profiles::Error& error) {
    return error.text();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a flag that is absent leaves the engine its default") {
  const planner::Serving out = serving({});
  CHECK_FALSE(out.max_model_len.has_value());
  CHECK_FALSE(out.max_num_seqs.has_value());
  CHECK_FALSE(out.gpu_memory_utilization.has_value());
  CHECK_FALSE(out.enable_prefix_caching.has_value());
  CHECK_FALSE(out.language_model_only.has_value());
  CHECK_FALSE(out.speculative.has_value());
  CHECK(out.kv_cache_dtype == "auto");
  CHECK(out.tensor_parallel_size == 1);
}

TEST_CASE("the published serve line of the 28B carve is understood in vLLM's own words") {
  const planner::Serving out = serving({"--kv-cache-dtype", "fp8", "--max-model-len", "8192", "--gpu-memory-utilization",
                                        "0.94", "--max-num-seqs", "16", "--limit-mm-per-prompt", R"({"image":0,"video":0})",
                                        "--speculative-config", R"({"method":"qwen3_5_mtp","num_speculative_tokens":4})"});
  CHECK(out.kv_cache_dtype == "fp8");
  CHECK(out.max_model_len == 8192);
  CHECK(out.gpu_memory_utilization == 0.94);
  CHECK(out.max_num_seqs == 16);
  CHECK(out.language_model_only == true);
  REQUIRE(out.speculative.has_value());
  CHECK(out.speculative->method == "qwen3_5_mtp");
  CHECK(out.speculative->tokens == 4);
}

TEST_CASE("vision stays on while any kind of input may come in") {
  CHECK(serving({"--limit-mm-per-prompt", R"({"image":1,"video":0})"}).language_model_only == false);
  CHECK(serving({"--limit-mm-per-prompt", R"({"image":{"count":0,"width":512}})"}).language_model_only == true);
  CHECK(serving({"--vision", "on"}).language_model_only == false);
  CHECK(serving({"--language-model-only"}).language_model_only == true);
}

TEST_CASE("a draft model is named by --speculative-config") {
  std::optional<std::string> draft;
  const planner::Serving out =
      serving({"--speculative-config", R"({"method":"eagle3","model":"org/draft","num_speculative_tokens":3})"}, &draft);
  CHECK(draft == "org/draft");
  CHECK(out.speculative->method == "eagle3");
}

TEST_CASE("--mtp 0 is no speculation") { CHECK_FALSE(serving({"--mtp", "0"}).speculative.has_value()); }

TEST_CASE("flags that contradict each other are refused") {
  CHECK(complaint({"--mtp", "3", "--speculative-config", "{}"}) ==
        "error: --mtp and --speculative-config say the same thing twice\n  help: leave one of them out");
  CHECK(complaint({"--vision", "on", "--limit-mm-per-prompt", R"({"image":0})"}) ==
        "error: --vision on and --limit-mm-per-prompt {\"image\":0} contradict each other\n  help: leave one of them out");
  CHECK(complaint({"--max-num-batched-tokens", "auto"}) ==
        "error: --max-num-batched-tokens wants a count, not auto\n  help: leave it out for the engine's default");
}

TEST_CASE("what is stated is fixed, what is not is searched") {
  const planner::Search free = search_from(parse_args(std::vector<std::string>{"plan"}));
  CHECK(free.experts);
  CHECK(free.context);
  CHECK(free.sequences);
  CHECK(free.experts_step == 32);
  const planner::Search fixed = search_from(
      parse_args(std::vector<std::string>{"plan", "--experts", "192", "--max-model-len", "8K", "--max-num-seqs", "4"}));
  CHECK_FALSE(fixed.experts);
  CHECK_FALSE(fixed.context);
  CHECK_FALSE(fixed.sequences);
}

TEST_CASE("a margin is bytes or a share of the device") {
  const auto margin = [](const std::string& text) {
    return margin_from(parse_args(std::vector<std::string>{"plan", "--margin", text}), profiles::gib(24));
  };
  CHECK(margin("512MiB") == profiles::mib(512));
  CHECK(margin("5%") == profiles::Bytes(1288490189));  // 24 * 2^30 * 0.05 = 1288490188.8
  CHECK(margin_from(parse_args(std::vector<std::string>{"plan"}), profiles::gib(24)) == profiles::Bytes(0));
  CHECK_THROWS_WITH(margin("much"), "error: --margin wants a size such as 512MiB or a share from 0% to 100%, not 'much'");
  CHECK_THROWS_WITH(margin("101%"), "error: --margin wants a size such as 512MiB or a share from 0% to 100%, not '101%'");
}
