// Graphs, communicators, workspaces and what escapes the budget, each against a printed boot or a formula written out.
#include <doctest/doctest.h>

#include <algorithm>

#include "planner/memory_model.h"
#include "tests/planner/memory_support.h"

namespace kvfit::planner {
namespace {

using namespace test;

MemorySums sums_of(const Question& question) {
  const Asked asked = ask(question);
  const Rank rank = distinct_ranks(question.model, asked.settings).front();
  return MemoryModel(question, asked.settings, asked.traits, rank).sums(asked.settings, 0);
}

bool holds(const Amount& amount, double printed) {
  return std::abs(gib(amount) - printed) <= profiles::to_gib(amount.error) + 0.005;
}

// Source: llm-d-incubation/llm-d-planner#205, v0.19.0 on H100.
TEST_CASE("bars of graphs and non-torch hold what boots printed") {
  Question question = h100(kLlama31_8b, "0.19.0");
  CHECK(holds(sums_of(question).graphs, 0.91));
  CHECK(holds(sums_of(question).non_torch, 0.25));
  CHECK(sums_of(question).graph_estimate.bytes == Bytes(0));  // profiled but not applied before v0.21
  CHECK(sums_of(question).before_engine.bytes == Bytes(0));
  question.serving.tensor_parallel_size = 2;
  CHECK(holds(sums_of(question).graphs, 0.76));
  CHECK(holds(sums_of(question).non_torch, 2.07));
  CHECK(holds(sums_of(question).before_engine, 78.68 - 77.66));  // free at start at TP1, at TP2
  question = h100(kQwen25_72b, "0.19.0");
  question.serving.tensor_parallel_size = 2;
  CHECK(holds(sums_of(question).graphs, 1.61));
}

TEST_CASE("without graphs nothing is captured, estimated or profiled") {
  Question question = h100(kLlama31_8b, "0.22.0");
  CHECK(sums_of(question).graph_estimate.bytes > Bytes(0));
  question.serving.enforce_eager = true;
  const MemorySums sums = sums_of(question);
  CHECK(sums.graphs.bytes == Bytes(0));
  CHECK(sums.graph_estimate.bytes == Bytes(0));
}

// One sequence is captured at sizes 1 and 2 and, as a whole, at 1: vllm/config/vllm.py. Three graphs against 102.
TEST_CASE("graphs grow with their number") {
  Question question = h100(kLlama31_8b, "0.19.0");
  const double all = gib(sums_of(question).graphs);
  question.serving.max_num_seqs = 1;
  CHECK(gib(sums_of(question).graphs) == doctest::Approx(all * 3 / 102));
}

// The estimate runs on a throw-away cache of min(sequences, largest graph) blocks; vllm-project/recipes Qwen3.8-27B: a boot
// with 256 sequences asked for 784 MiB a layer, 256 blocks of 3,211,264 bytes.
TEST_CASE("the estimate needs one block a sequence, at most the largest graph") {
  Question question = h100(kLlama31_8b, "0.22.0");
  using Pair = std::pair<std::int64_t, std::int64_t>;
  for (const auto& [sequences, blocks] : {Pair{1, 1}, Pair{256, 256}, Pair{1024, 512}}) {
    question.serving.max_num_seqs = sequences;
    const Asked asked = ask(question);
    const Rank rank = distinct_ranks(question.model, asked.settings).front();
    CHECK(MemoryModel(question, asked.settings, asked.traits, rank).profiling_blocks(asked.settings) == blocks);
  }
  CHECK(std::int64_t{256} * 3'211'264 == std::int64_t{784} << 20);
}

// GLM-5.2 at 819200 positions: 40 x 819200 x 132 B = 4.03 GiB of gathered index keys (printed peak 6.31 GiB with the sampler
// at 1024 sequences); vllm/v1/attention/backends/mla/indexer.py.
TEST_CASE("a sparse index gathers 40 entries of 132 bytes a position") {
  models::Model model = model_of({6144, 4, 64, 64, 256, 12288, 154880, 1048576});
  for (models::Layer& layer : model.layers) {
    layer.attention->kind = models::Attention::Kind::mla;
    layer.attention->kv_lora_rank = 512;
    layer.attention->qk_nope_head_dim = 192;
    layer.attention->qk_rope_head_dim = 64;
    layer.attention->indexer = models::Indexer{};
  }
  Question question = h100(model, inventory_of({6144, 4, 64, 64, 256, 12288, 154880, 1048576}), "0.26.0");
  question.serving.max_model_len = 819200;
  const Asked asked = ask(question);
  const Rank rank = distinct_ranks(question.model, asked.settings).front();
  const ActivationModel activation(question, asked.settings, asked.traits, rank);
  CHECK(activation.parts(asked.settings).index == std::int64_t{40} * 819200 * 132);
}

// K and V of one layer, 8 heads x 128 each, in fp16: 2 x 8 x 128 x 2 = 4,096 bytes for each of 100,000 tokens; half of it at
// TP2. vllm/v1/attention/backends/turboquant_attn.py _reserve_workspace.
TEST_CASE("a compressed cache is unpacked for one whole request before a prefill") {
  Question question = h100(kLlama31_8b, "0.27.0");
  question.serving.kv_cache_dtype = "turboquant_4bit_nc";
  question.serving.max_model_len = 100000;
  for (const std::int64_t tp : {1, 2}) {
    question.serving.tensor_parallel_size = tp;
    const Asked asked = ask(question);
    const Rank rank = distinct_ranks(question.model, asked.settings).front();
    const GraphModel graphs(question, asked.settings, asked.traits, rank);
    CHECK(graphs.attention_workspace(asked.settings).bytes == Bytes(std::int64_t{4096} / tp * 100000));
  }
}

TEST_CASE("recurrent prefill counts only beyond the profiled peak, and grows with the batch") {
  models::Model model = model_of({5120, 4, 24, 4, 256, 17408, 248320, 262144});
  models::Layer& layer = model.layers[0];
  layer.attention.reset();
  layer.recurrent = models::Recurrent{};
  layer.recurrent->k_heads = 16;
  layer.recurrent->v_heads = 48;
  layer.recurrent->k_dim = layer.recurrent->v_dim = 128;
  layer.recurrent->conv_kernel = 4;
  const Question question = h100(model, inventory_of({5120, 4, 24, 4, 256, 17408, 248320, 262144}), "0.24.0");
  const Asked asked = ask(question);
  const OutsideModel outside(question, asked.settings, asked.traits, distinct_ranks(model, asked.settings).front());
  // A token: residual 4 x 5120 x 2; inputs 2 x (2 x 16 x 128 + 2 x 48 x 128) x 2; 48 heads x 1924 = 198,848 bytes.
  CHECK(outside.prefill_scratch(8192, Bytes(0)).bytes == Bytes(std::int64_t{8192} * 198'848));
  CHECK(outside.prefill_scratch(8192, profiles::gib(4)).bytes == Bytes(0));
  CHECK(outside.prefill_scratch(2048, profiles::gib(0)).bytes < outside.prefill_scratch(8192, profiles::gib(0)).bytes);
}

}  // namespace
}  // namespace kvfit::planner
