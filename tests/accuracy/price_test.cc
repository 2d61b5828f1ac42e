#include "tests/accuracy/price.h"

#include <doctest/doctest.h>

#include "tests/accuracy/holdout.h"
#include "tests/accuracy/question.h"
#include "tests/accuracy/rows.h"

namespace kvfit::accuracy {
namespace {

RowScore priced(std::string_view line) {
  static const profiles::Catalog kCatalog;
  static const Library kLibrary(kCatalog);
  Rows rows;
  read_rows_text(line, "test.jsonl", rows);
  REQUIRE(rows.observations.size() == 1);
  return price(kLibrary, rows.observations.front());
}

const Score* score_of(const RowScore& row, Quantity quantity) {
  for (const Score& score : row.scores) {
    if (score.quantity == quantity) return &score;
  }
  return nullptr;
}

// llm-d-incubation/llm-d-planner#205, Llama-3.1-8B-Instruct on one H100, v0.19.0.
constexpr std::string_view kBoot =
    R"j({"id":"ID","engine":"vllm","engine_version":"0.19.0","gpu":"H100 80GB","gpu_mem_gib":79.19,"gpu_count":1,"tp":1,"pp":1,)j"
    R"j("model":"meta-llama/Llama-3.1-8B-Instruct","args":{"max_model_len":8192,"gpu_memory_utilization":0.95,)j"
    R"j("kv_cache_dtype":"auto","enable_prefix_caching":false,"max_num_batched_tokens":8192},"measured":{"weights_gib":14.99,)j"
    R"j("available_kv_gib":58.11,"kv_tokens":476016,"max_concurrency":58.11,"num_gpu_blocks":29751,"activation_gib":1.89,)j"
    R"j("non_torch_gib":0.25,"free_at_start_gib":78.68,"requested_gib":75.23}})j";

TEST_CASE("a published boot: cache exact, weights to print rounding, available memory within 0.02 GiB, and it fits") {
  const RowScore row = priced(kBoot);
  CHECK(row.groups.fully_stated);
  CHECK(row.groups.field);
  REQUIRE(score_of(row, Quantity::kv_given_available) != nullptr);
  CHECK(score_of(row, Quantity::kv_given_available)->exact);
  CHECK(score_of(row, Quantity::kv_given_available)->solved.empty());
  CHECK(score_of(row, Quantity::weights)->exact);
  CHECK(score_of(row, Quantity::available_kv_tp1)->error == doctest::Approx(0).epsilon(1).scale(0.02));
  REQUIRE(row.verdict.has_value());
  CHECK(row.verdict->verdict == planner::Verdict::fits);
}

TEST_CASE("a row's id decides its reporting group and nothing else") {
  std::string renamed(kBoot);
  renamed.replace(renamed.find("ID"), 2, "planner-x");
  const RowScore a = priced(kBoot);
  const RowScore b = priced(renamed);
  CHECK(b.groups.sweep);
  REQUIRE(a.scores.size() == b.scores.size());
  for (std::size_t i = 0; i < a.scores.size(); ++i) CHECK(a.scores[i].predicted == doctest::Approx(b.scores[i].predicted));
}

// A block of Qwen3.8-27B at TP2 and fp8 is 1,568 tokens x 1,024 B x 16 layers = 25,690,112 B, so 4.99 GiB hold 208. A
// request of 131,072 tokens takes 84 pages and 3 x 2 states with prefix caching: 208 / 90 = 2.31, x 131,072 = 302,921
// tokens. Without it (the default of v0.24) 3 x 1 states: 208 / 87 = 2.39.
TEST_CASE("an unstated prefix mode is solved for and said so") {
  const RowScore row = priced(
      R"j({"id":"x","engine":"vllm","engine_version":"0.24.0","gpu":"RTX 3090","gpu_count":2,"tp":2,"pp":1,)j"
      R"j("model":"Qwen/Qwen3.8-27B-FP8","quant":"fp8","args":{"max_model_len":131072,"max_num_seqs":2,"kv_cache_dtype":"fp8_e4m3"},)j"
      R"j("measured":{"available_kv_gib":4.99,"kv_tokens":302921,"max_concurrency":2.31,"attn_block_size":1568}})j");
  const Score* score = score_of(row, Quantity::kv_given_available);
  REQUIRE(score != nullptr);
  CHECK(score->exact);
  CHECK(score->solved == std::vector<std::string>{"prefix caching = on"});
  CHECK_FALSE(row.groups.fully_stated);
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  const std::size_t at = out.find(from);
  REQUIRE(at != std::string::npos);
  return out.replace(at, from.size(), to);
}

TEST_CASE("a row without a version has wider bars, one without a parallel size no memory figures") {
  const RowScore dated = priced(kBoot);
  const RowScore undated = priced(replaced(kBoot, R"j("0.19.0")j", "null"));
  REQUIRE(score_of(undated, Quantity::available_kv_tp1) != nullptr);
  CHECK(*score_of(undated, Quantity::available_kv_tp1)->bar > *score_of(dated, Quantity::available_kv_tp1)->bar);
  const RowScore alone = priced(replaced(kBoot, R"j("gpu_count":1,"tp":1,)j", ""));
  CHECK(score_of(alone, Quantity::weights) == nullptr);
  CHECK(score_of(alone, Quantity::kv_given_available)->exact);
}

// 100 blocks of 784 tokens against 2.02 requests of 32,768: tokens counted in blocks, which 0.21 ended.
TEST_CASE("an undated print tells the releases that could have made it") {
  Observation row;
  row.measured.kv_tokens = 78400;
  row.measured.at_len = 32768;
  row.measured.concurrency = Printed{2.02, 0.005};
  CHECK(version_by_form(row) == "0.20.0");
  row.measured.concurrency = Printed{2.39, 0.005};
  CHECK(version_by_form(row).empty());
}

TEST_CASE("an undated start whose length nobody states is not judged") {
  const std::string undated = replaced(kBoot, R"j("0.19.0")j", "null");
  CHECK(priced(undated).verdict.has_value());
  CHECK_FALSE(priced(replaced(undated, R"j("max_model_len":8192,)j", "")).verdict.has_value());
}

// Qwen3-Next on two H200 is the only boot behind the non-torch memory of NVLink pairs before v0.11 (1.2 GiB); without that
// rule the assumed one answers (0.8 GiB), with a bar that reaches it.
TEST_CASE("a boot held out is priced without the rules that only its source supports") {
  Rows rows;
  read_rows_text(
      R"j({"id":"x","source":"one log","engine":"vllm","engine_version":"0.10.2","gpu":"H200","gpu_mem_gib":139.81,)j"
      R"j("gpu_count":2,"tp":2,"pp":1,"model":"Qwen/Qwen3-Next-80B-A3B-Instruct","quant":"none (bf16)",)j"
      R"j("args":{"max_model_len":262144,"gpu_memory_utilization":0.9},"measured":{"non_torch_gib":1.38}})j",
      "test.jsonl", rows);
  const profiles::Catalog catalog;
  const Holdout held_out = hold_out(catalog, KVFIT_ENGINE_PROFILE, rows.observations);
  REQUIRE(held_out.scores.size() == 1);
  CHECK(held_out.boots == 1);
  CHECK(held_out.single_source >= 1);
  const Score* unseen = score_of(held_out.scores[0], Quantity::non_torch);
  CHECK(unseen->predicted == doctest::Approx(0.8));
  CHECK(*unseen->bar >= 0.58);
  CHECK(price(Library(catalog), rows.observations[0]).scores[0].predicted == doctest::Approx(1.2));
}

TEST_CASE("the start-up check needs no model; other engines and unknown models say why they are not priced") {
  const RowScore start = priced(R"j({"id":"f","engine":"vllm","gpu_mem_gib":79.15,"args":{"gpu_memory_utilization":0.8},)j"
                                R"j("measured":{"error":"free_mem","free_at_start_gib":46.07,"requested_gib":63.32}})j");
  REQUIRE(start.verdict.has_value());
  CHECK(start.verdict->class_named);
  CHECK(priced(R"j({"id":"l","engine":"llama.cpp","args":{},"measured":{"kv_mib":448.0}})j").unpriced ==
        "engine llama.cpp is not modelled");
  CHECK(
      priced(R"j({"id":"m","engine":"vllm","model":"nobody/Knows-9B","args":{},"measured":{"weights_gib":1}})j").unpriced ==
      "model not in the catalogue: nobody/Knows-9B");
}

}  // namespace
}  // namespace kvfit::accuracy
