// The same boots from the other end: the layout derived from a model's published config.json agrees with what the boot
// logs imply.
#include <doctest/doctest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "models/config_reader.h"
#include "planner/kv_capacity.h"
#include "planner/traits.h"
#include "profiles/document.h"
#include "profiles/json.h"
#include "tests/planner/kv_support.h"

namespace kvfit::planner {
namespace {

using profiles::Json;

models::Model read(const std::string& config) {
  const std::string path = std::string(KVFIT_TEST_DATA) + "/configs/" + config + ".json";
  return models::read_config(profiles::parse_json(profiles::read_text_file(path), path), nullptr, config);
}

Question ask(const std::string& config, const std::string& version, int capability, double gib) {
  Question out;
  out.node.gpu.capability = {capability / 10, capability % 10};
  const profiles::Bytes total = profiles::from_gib(gib);
  out.node.gpu.cuda_total_linux.value = {total, total, total};
  out.model = read(config);
  out.rules = std::make_shared<const Rules>(test::vllm_rules(version));
  return out;
}

struct Priced {
  KvLayout layout;
  Settings settings;
};
Priced price(const Question& question) {
  const Traits stated = stated_traits(question);
  Priced out;
  out.settings = resolve_settings(question, stated);
  Traits traits = stated;
  add_settings(traits, out.settings);
  const Speculative* speculative = question.serving.speculative ? &*question.serving.speculative : nullptr;
  out.layout = kv_layouts(question.model, speculative, out.settings, *question.rules, traits).front();
  return out;
}

Json golden(const std::string& id) {
  std::ifstream file(std::string(KVFIT_TEST_DATA) + "/kv_goldens.jsonl");
  for (std::string line; std::getline(file, line);) {
    Json row = Json::parse(line);
    if (row["id"] == id) return row;
  }
  throw std::runtime_error("no row " + id);
}

struct Case {
  std::string id, config;
  int capability = 90;
  double gib = 79.19;
  std::string kv = "auto", dtype = "auto";
  std::optional<std::int64_t> batch;
  std::optional<bool> prefix;
  int drafted = 0;
};

const std::vector<Case> kCases{
    {"llama31-8b-3090-29k", "Llama-3.1-8B-Instruct", 86, 23.58},
    {"qwen3-next-80b-bf16-2xh200-0102", "Qwen3-Next-80B-A3B-Instruct", 90, 139.8},
    {"gemma3-27b-rocm-0110rc2", "gemma-3-27b-it", 90, 79.19, "auto", "auto", 8192},
    {"thor-gemma4-26b-085", "gemma-4-26B-A4B", 110, 122.8, "fp8", "auto", 2048},
    {"ministral3-14b-tp2-a40", "Ministral-3-14B-Instruct-2512", 86, 44.4},
    {"club3090-qwen36-35b-nvfp4-2x5090", "Qwen3.6-35B-A3B", 120, 31.37, "fp8", "auto", std::nullopt, true},
    {"qwen35-35b-32k-eager", "Qwen3.6-35B-A3B", 86, 23.58, "fp8", "auto", 4096, true},
    {"planner-google-gemma-2-2b-it-tp1pp1dp1--8192", "gemma-2-2b-it"},
    {"planner-google-gemma-3-27b-it-tp1pp1dp1--8192", "gemma-3-27b-it"},
    {"planner-meta-llama--tp1pp1dp1--8192-dtbf16-kvfp8", "Llama-3.1-8B-Instruct", 90, 79.19, "fp8"},
    {"planner-meta-llama-llama-3-tp1pp1dp1--8192-dtf32", "Llama-3.1-8B-Instruct", 90, 79.19, "auto", "float32"},
    {"planner-meta-llama-llama-3-1-8b--tp4pp1dp1--8192", "Llama-3.1-8B-Instruct"},
    {"planner-meta-llama-llama-4-scout-tp4pp1dp1--8192", "Llama-4-Scout-17B-16E-Instruct"},
    {"planner-mistralai-mixtral-8x7b-i-tp2pp1dp1--8192", "Mixtral-8x7B-v0.1"},
    {"planner-openai-gpt-oss-20b-tp2pp1dp1--8192", "gpt-oss-20b"},
    {"planner-qwen-qwen2-5-7b-instruct-tp4pp1dp1--8192", "Qwen2.5-7B-Instruct"},
    {"planner-qwen-qwen3-30b-a3b-tp1pp1dp1--8192", "Qwen3-30B-A3B"},
};

TEST_CASE("a published config gives the groups, blocks and pages of its boots") {
  for (const Case& c : kCases) {
    CAPTURE(c.id);
    const Json row = golden(c.id);
    Question question = ask(c.config, row["rules_of"], c.capability, c.gib);
    Serving& serving = question.serving;
    serving.tensor_parallel_size = row["tp"];
    serving.max_model_len = row["max_model_len"].get<std::int64_t>();
    serving.kv_cache_dtype = c.kv;
    serving.dtype = c.dtype;
    serving.max_num_batched_tokens = c.batch;
    serving.enable_prefix_caching = c.prefix;
    const Priced priced = price(question);
    CHECK(priced.layout.group_count == row["groups"].get<std::int64_t>());
    CHECK(priced.layout.bytes_per_block == row["bytes_per_block"].get<std::int64_t>());
    CHECK(pages_per_request(priced.layout, *serving.max_model_len, priced.settings.in_flight_tokens) ==
          row["blocks_per_request"].get<std::int64_t>());
  }
}

// Block sizes and paddings that public logs of other hybrids print: NVIDIA-Nemotron-3 has the same Mamba2 shapes in every
// size (fp8: 8,320 for Super), Granite-4.0-H-Small 528 at bf16, Kimi-K3 768 on sixteen ranks with fp8 KV and seven drafted
// tokens ("Padding mamba page size by 0.70%", vllm-project/vllm#51986), LFM2 16 with 300 % of padding.
TEST_CASE("hybrids of other kinds align as their logs say") {
  Question kimi = ask("Kimi-K3", "0.28", 100, 178.35);
  kimi.serving.tensor_parallel_size = 16;
  kimi.serving.kv_cache_dtype = "fp8";
  kimi.serving.speculative = Speculative{"mtp", 7, nullptr, nullptr};
  CHECK(price(kimi).layout.hybrid.block_size == 768);
  CHECK(price(kimi).layout.hybrid.padding_percent == doctest::Approx(0.70).epsilon(0.002));
  const Question lfm = ask("LFM2-8B-A1B", "0.16", 80, 64);
  CHECK(price(lfm).layout.hybrid.block_size == 16);
  CHECK(price(lfm).layout.hybrid.padding_percent == 300);
}

// MiMo-V2.6-Flash has V2-Flash's layers: 9 full (192 and 128 wide), 39 sliding. v0.31.1rc1, TP8, 49.18 GiB, 262,144 tokens,
// batches of 8,192 -> 6,969,972 tokens, "Add 6 padding layers, may waste at most 15.38%" (public boot).
TEST_CASE("windows of 39 layers under nine full ones, keys wider than values") {
  Question question = ask("MiMo-V2-Flash", "0.31.1rc1.dev50", 90, 79.19);
  question.serving.tensor_parallel_size = 8;
  question.serving.max_num_batched_tokens = 8192;
  question.serving.max_num_seqs = 64;
  question.serving.max_model_len = 262144;
  const Priced priced = price(question);
  CHECK(priced.layout.padding_layers == 6);
  const std::int64_t in_flight = priced.settings.in_flight_tokens;
  CHECK(in_flight == 16384);
  CHECK(pool_blocks(priced.layout, profiles::from_gib(49.1751)) <= 572952);
  CHECK(pool_blocks(priced.layout, profiles::from_gib(49.1849)) >= 572952);
  CHECK(printed_tokens(priced.layout, 572952, 262144, in_flight) == 6969972);
}

// v0.31.1rc1, TP8, 262,144 tokens, batches of 8,192: 47.43 GiB -> 1,728,531 tokens (public boot).
TEST_CASE("DeepSeek-V4 from its config") {
  Question question = ask("DeepSeek-V4-Flash", "0.31.1rc1.dev50", 90, 79.19);
  question.serving.tensor_parallel_size = 8;
  question.serving.max_num_batched_tokens = 8192;
  question.serving.max_model_len = 262144;
  const Priced priced = price(question);
  CHECK(priced.layout.bytes_per_block == 1002240);
  CHECK(printed_tokens(priced.layout, 50812, 262144, priced.settings.in_flight_tokens) == 1728531);
}

}  // namespace
}  // namespace kvfit::planner
