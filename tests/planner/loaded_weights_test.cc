// Loaded weights against "Model loading took X GiB" of public boots. Printed values carry two decimals (four up to v0.13),
// so a prediction within 0.006 GiB prints the same or the neighbouring figure.
#include "planner/loaded_weights.h"

#include <doctest/doctest.h>

#include "planner/module_split.h"
#include "planner/weight_extras.h"
#include "tests/planner/memory_support.h"

namespace kvfit::planner {
namespace {

using namespace test;

double loaded(const Dense& dense, std::int64_t tp, const char* version = "0.19.0") {
  Question question = h100(dense, version);
  question.serving.tensor_parallel_size = tp;
  const Asked asked = ask(question);
  const Rank rank = distinct_ranks(question.model, asked.settings).front();
  return gib(LoadedWeights(question, asked.settings, asked.traits, rank).total(0));
}

// Source: llm-d-incubation/llm-d-planner#205, v0.19.0 logs on H100, where nothing else is said.
TEST_CASE("dense bf16 models load what boots printed, rounding of single tensors included") {
  CHECK(loaded(kLlama31_8b, 1) == doctest::Approx(14.9888).epsilon(0.0002));  // vllm-project/vllm#10517
  CHECK(loaded(kLlama31_8b, 2) == doctest::Approx(7.51).epsilon(0.0008));
  CHECK(loaded(kLlama31_8b, 4) == doctest::Approx(3.77).epsilon(0.0015));
  CHECK(loaded(kQwen25_7b, 1) == doctest::Approx(14.25).epsilon(0.0004));
  CHECK(loaded(kQwen25_7b, 2) == doctest::Approx(7.12).epsilon(0.0008));
  CHECK(loaded(kQwen25_3b, 1) == doctest::Approx(5.7915).epsilon(0.0004));
  CHECK(loaded(kQwen25_72b, 2) == doctest::Approx(67.80).epsilon(0.0002));
  CHECK(loaded(kKimiDev_72b, 2) == doctest::Approx(67.82).epsilon(0.0002));  // four times the positions
  CHECK(loaded(kKimiDev_72b, 4) == doctest::Approx(34.01).epsilon(0.0002));
  CHECK(loaded(kQwen3_14b, 1) == doctest::Approx(27.52).epsilon(0.0003));
  CHECK(loaded(kQwen3_32b, 1) == doctest::Approx(61.03).epsilon(0.0002));
  CHECK(loaded(kQwen3_32b, 2) == doctest::Approx(30.59).epsilon(0.0003));
  CHECK(loaded(kPhi4, 1) == doctest::Approx(27.39).epsilon(0.0003));
  CHECK(loaded(kGemma2_2b, 1) == doctest::Approx(4.90).epsilon(0.0012));
  CHECK(loaded(kGemma2_27b, 1) == doctest::Approx(50.72).epsilon(0.0002));
  CHECK(loaded(kCodeLlama_7b, 1) == doctest::Approx(12.56).epsilon(0.0005));
}

// 151936 x 1536 x 2 B = 445.1 MiB and 2 x 8960 x 1536 x 2 B = 52.5 MiB: the first rounds to 446, the second to 54 MiB once
// blocks of 20 MiB and more are no longer split.
TEST_CASE("from v0.21 a large tensor keeps the whole of its segment") {
  const AllocatorRounding before;
  AllocatorRounding after;
  after.no_split_from = std::int64_t{20} << 20;
  const std::int64_t gate_up = std::int64_t{2} * 8960 * 1536 * 2;
  CHECK(before.counted(gate_up) == gate_up);  // 52.5 MiB: the rest of 1.5 MiB is split off
  CHECK(after.counted(gate_up) == std::int64_t{54} << 20);
  CHECK(before.counted((std::int64_t{85} << 20)) == std::int64_t{86} << 20);  // a rest of 1 MiB is kept
  CHECK(before.counted(std::int64_t{9} << 20) == std::int64_t{9} << 20);      // below 10 MiB: shared segments
  CHECK(before.counted(1) == 512);
}

TEST_CASE("twice the tensor parallel size halves what is divided and keeps norms and rotary caches") {
  Question question = h100(kLlama31_8b, "0.19.0");
  const Asked one = ask(question);
  question.serving.tensor_parallel_size = 2;
  const Asked two = ask(question);
  const Rank rank = distinct_ranks(question.model, one.settings).front();
  const std::vector<Entry> whole = LoadedWeights(question, one.settings, one.traits, rank).entries(0);
  const std::vector<Entry> half = LoadedWeights(question, two.settings, two.traits, rank).entries(0);
  REQUIRE(whole.size() == half.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    REQUIRE(whole[i].label == half[i].label);
    if (whole[i].label == "weights.allocator") continue;
    const bool kept = whole[i].label == "weights.norms" || whole[i].label == "weights.rope";
    CHECK_MESSAGE(whole[i].bytes.count == half[i].bytes.count * (kept ? 1 : 2), whole[i].label);
  }
}

TEST_CASE("entries sum to the total, and their bars to its bar in quadrature") {
  const Question question = h100(kQwen3_32b, "0.24.0");
  const Asked asked = ask(question);
  const Rank rank = distinct_ranks(question.model, asked.settings).front();
  const LoadedWeights weights(question, asked.settings, asked.traits, rank);
  const std::vector<Entry> entries = weights.entries(0);
  Bytes sum;
  for (const Entry& entry : entries) sum += entry.bytes;
  CHECK(sum == weights.total(0).bytes);
  CHECK(profiles::to_gib(combined_error(entries)) == doctest::Approx(gib({weights.total(0).error, {}})).epsilon(0.01));
}

// Llama-3.1-8B, rank 16: in + out of q 8192, k and v 5120 each, o 8192, gate and up 18432 each, down 18432 = 81920 a layer;
// x 32 layers x 16 x 2 B = 83,886,080 B = 0.078 GiB.
TEST_CASE("a LoRA slot of rank 16 takes 0.078 GiB beside Llama-3.1-8B") {
  Question question = h100(kLlama31_8b, "0.19.0");
  question.serving.enable_lora = true;
  const Asked asked = ask(question);
  const Rank rank = distinct_ranks(question.model, asked.settings).front();
  CHECK(lora_bytes(question.model, question.serving, asked.settings, rank) == 83'886'080);
  Question twice = question;
  twice.serving.max_loras = 2;
  CHECK(lora_bytes(twice.model, twice.serving, asked.settings, rank) == 2 * 83'886'080);
}

// A layer of 8 experts of 2 x (3 x 64 x 128) bytes each beside a router of 8 x 128: each expert less frees its own bytes.
TEST_CASE("weights grow with the routed experts, one expert's bytes a step") {
  Dense dense{128, 1, 2, 2, 64, 256, 1024, 64};
  models::Model model = model_of(dense);
  model.layers[0].dense.reset();
  model.layers[0].moe = models::Moe{};
  model.layers[0].moe->experts = 8;
  model.layers[0].moe->top_k = 2;
  model.layers[0].moe->intermediate = 64;
  auto inventory = inventory_of(dense);
  std::erase_if(inventory->tensors, [](const Tensor& t) { return t.role == Role::dense_mlp; });
  for (const char* name : {"gate_proj", "up_proj", "down_proj"}) {
    Tensor t = tensor("model.layers.0.mlp.experts.{}." + std::string(name) + ".weight", Role::expert, 0, {64, 128});
    t.expert_ids = {0, 1, 2, 3, 4, 5, 6, 7};
    inventory->tensors.push_back(t);
  }
  inventory->tensors.push_back(tensor("model.layers.0.mlp.gate.weight", Role::router, 0, {8, 128}));
  const Question question = h100(model, inventory, "0.19.0");
  const Asked asked = ask(question);
  const LoadedWeights weights(question, asked.settings, asked.traits, distinct_ranks(model, asked.settings).front());
  for (std::int64_t experts = 2; experts <= 8; experts += 2) {
    const Bytes less = weights.total(experts - 2).bytes;
    CHECK(weights.total(experts).bytes - less == Bytes(2 * (3 * 64 * 128 * 2) + 2 * 128 * 2));
  }
}

TEST_CASE("layers of a pipeline: the remainder goes to the stages before the last, from the back") {
  CHECK(layers_per_stage(32, 4) == std::vector<std::int64_t>{8, 8, 8, 8});
  CHECK(layers_per_stage(30, 4) == std::vector<std::int64_t>{7, 8, 8, 7});
  CHECK(layers_per_stage(31, 4) == std::vector<std::int64_t>{8, 8, 8, 7});
}

TEST_CASE("neighbours that the engine fuses become one parameter") {
  const ParamName q = engine_parameter(tensor("model.layers.3.self_attn.q_proj.weight", Role::attention, 3, {4096, 4096}));
  const ParamName k = engine_parameter(tensor("model.layers.3.self_attn.k_proj.weight", Role::attention, 3, {1024, 4096}));
  const ParamName scale =
      engine_parameter(tensor("model.layers.3.self_attn.k_proj.weight_scale_inv", Role::attention, 3, {8, 32}));
  CHECK(q.parameter == "model.layers.3.self_attn.qkv_proj|weight");
  CHECK(k.parameter == q.parameter);
  CHECK(k.split == Split::kv_heads);
  CHECK(scale.parameter == "model.layers.3.self_attn.qkv_proj|weight_scale_inv");
  CHECK(scale.kind == ParamKind::scale);
  const ParamName blocks =
      engine_parameter(tensor("model.layers.0.mlp.experts.gate_up_proj_blocks", Role::expert, 0, {32, 5760, 90, 16}));
  CHECK(blocks.kind == ParamKind::weight);
  CHECK(blocks.split == Split::column);
  const ParamName gate = engine_parameter(tensor("model.layers.0.mlp.gate.weight", Role::router, 0, {256, 2048}));
  CHECK(gate.split == Split::replicated);
}

}  // namespace
}  // namespace kvfit::planner
