// Routed experts after loading: padding by kernel, shares of expert parallel ranks, balancing buffers, a drafter's own
// layers.
#include <doctest/doctest.h>

#include "planner/loaded_weights.h"
#include "tests/planner/memory_support.h"

namespace kvfit::planner {
namespace {

using namespace test;

struct Oss {
  std::int64_t layers, experts;
};

// gpt-oss as published: hidden and expert width 2880, 64 query and 8 KV heads of 64, vocabulary 201088, experts in MXFP4
// with one scale byte for 32 values, biases everywhere.
models::Model oss_model(const Oss& oss) {
  models::Model model = model_of({2880, oss.layers, 64, 8, 64, 2880, 201088, 131072});
  for (models::Layer& layer : model.layers) {
    layer.dense.reset();
    layer.moe = models::Moe{};
    layer.moe->experts = oss.experts;
    layer.moe->top_k = 4;
    layer.moe->intermediate = 2880;
  }
  model.quantization.method = "mxfp4";
  model.quantization.base.format = models::Format::mxfp4;
  return model;
}

std::shared_ptr<models::TensorInventory> oss_inventory(const Oss& oss) {
  auto out = inventory_of({2880, oss.layers, 64, 8, 64, 2880, 201088, 131072, false, true});
  std::erase_if(out->tensors, [](const Tensor& t) { return t.role == Role::dense_mlp; });
  for (int layer = 0; layer < static_cast<int>(oss.layers); ++layer) {
    const std::string at = "model.layers." + std::to_string(layer) + ".mlp.";
    using Matrix = std::pair<const char*, std::int64_t>;
    for (const auto& [name, rows] : {Matrix{"gate_up_proj", 5760}, Matrix{"down_proj", 2880}}) {
      const std::string expert = at + "experts." + name;
      out->tensors.push_back(tensor(expert + "_blocks", Role::expert, layer, {oss.experts, rows, 90, 16}, DType::u8));
      out->tensors.push_back(tensor(expert + "_scales", Role::expert, layer, {oss.experts, rows, 90}, DType::u8));
      out->tensors.push_back(tensor(expert + "_bias", Role::expert, layer, {oss.experts, rows}));
    }
    out->tensors.push_back(tensor(at + "router.weight", Role::router, layer, {oss.experts, 2880}));
  }
  return out;
}

double loaded(const Oss& oss, const char* version, std::int64_t tp = 1, hardware::Capability capability = {9, 0},
              const char* platform = "cuda") {
  Question question = h100(oss_model(oss), oss_inventory(oss), version);
  question.node.gpu.capability = capability;
  question.node.gpu.platform = platform;
  question.serving.tensor_parallel_size = tp;
  const Asked asked = ask(question);
  const Rank rank = distinct_ranks(question.model, asked.settings).front();
  return gib(LoadedWeights(question, asked.settings, asked.traits, rank).total(oss.experts));
}

constexpr Oss k20b{24, 32};
constexpr Oss k120b{36, 128};

// Sources: llm-d-planner v0.11.0 and v0.19.0 on H100; vllm-project/vllm#33155; gpt-oss-20b on Arc B60, v0.29.
TEST_CASE("gpt-oss loads what boots printed, by kernel and version") {
  CHECK(loaded(k20b, "0.19.0") == doctest::Approx(13.64).epsilon(0.002));    // 2880 -> 3072 x 2944, values only
  CHECK(loaded(k20b, "0.19.0", 2) == doctest::Approx(7.01).epsilon(0.008));  // 1440 -> 1536
  CHECK(loaded(k20b, "0.11.0") == doctest::Approx(13.47).epsilon(0.003));    // only 2880 -> 3072
  CHECK(loaded(k120b, "0.14.1") == doctest::Approx(64.38).epsilon(0.001));
  CHECK(loaded(k120b, "0.19.0", 1, {8, 0}) == doctest::Approx(65.97).epsilon(0.002));        // Marlin pads scales too
  CHECK(loaded(k20b, "0.29.0", 1, {0, 0}, "xpu") == doctest::Approx(12.87).epsilon(0.004));  // no padding
}

// 32 experts over 4 ranks are 8 each; 30 are 8, 8, 7, 7: the first rank holds the most. 2 redundant ones make 32 again.
TEST_CASE("expert parallel ranks hold their share, the first rank the larger one") {
  CHECK(local_experts(32, 4, 0) == 8);
  CHECK(local_experts(30, 4, 0) == 8);
  CHECK(local_experts(30, 4, 2) == 7);
  CHECK(local_experts(30 + 2, 4, 3) == 8);
  Question question = h100(oss_model(k20b), oss_inventory(k20b), "0.19.0");
  question.serving.tensor_parallel_size = 4;
  question.serving.enable_expert_parallel = true;
  const Asked asked = ask(question);
  REQUIRE(asked.settings.expert_parallel == 4);
  const Rank rank = distinct_ranks(question.model, asked.settings).front();
  const LoadedWeights weights(question, asked.settings, asked.traits, rank);
  const auto experts = [](const LoadedWeights& w, std::int64_t count) {
    for (const Entry& entry : w.entries(count)) {
      if (entry.label == "weights.experts") return entry.bytes.count;
    }
    return std::int64_t{0};
  };
  CHECK(experts(weights, 16) * 2 == experts(weights, 32));
  CHECK(experts(weights, 30) == experts(weights, 32));
}

// The balancing buffer copies one layer's local experts: 1/24 of them.
TEST_CASE("expert balancing keeps a buffer of one layer's experts") {
  Question question = h100(oss_model(k20b), oss_inventory(k20b), "0.19.0");
  question.serving.tensor_parallel_size = 4;
  question.serving.enable_expert_parallel = true;
  question.serving.enable_eplb = true;
  const Asked asked = ask(question);
  const LoadedWeights weights(question, asked.settings, asked.traits,
                              distinct_ranks(question.model, asked.settings).front());
  Bytes experts, buffer;
  for (const Entry& entry : weights.entries(32)) {
    if (entry.label == "weights.experts") experts = entry.bytes;
    if (entry.label == "weights.expert_balancing") buffer = entry.bytes;
  }
  CHECK(buffer * 24 == experts);
}

// Two layers as a draft: one stored in the model (MTP), one a checkpoint of its own with the target's vocabulary.
TEST_CASE("draft layers load only with speculation; a drafter that shares the vocabulary keeps the target's embedding") {
  const Dense dense{256, 2, 4, 2, 64, 512, 2048, 4096};
  auto inventory = inventory_of(dense);
  Tensor mtp = tensor("mtp.fc.weight", Role::draft, 0, {256, 512});
  mtp.draft_role = Role::other;
  inventory->tensors.push_back(mtp);
  models::Model model = model_of(dense);
  model.draft = models::Draft{};
  Question question = h100(model, inventory, "0.24.0");
  const auto total = [&] {
    const Asked asked = ask(question);
    return LoadedWeights(question, asked.settings, asked.traits, distinct_ranks(model, asked.settings).front())
        .total(0)
        .bytes;
  };
  const Bytes plain = total();
  question.serving.speculative = Speculative{"ngram", 3, nullptr, nullptr};
  CHECK(total() == plain);
  question.serving.speculative = Speculative{"mtp", 1, nullptr, nullptr};
  CHECK(total() - plain == Bytes(256 * 512 * 2));
  const Dense drafter{256, 1, 4, 2, 64, 512, 2048, 4096};
  question.serving.speculative =
      Speculative{"eagle3", 3, std::make_shared<const models::Model>(model_of(drafter)), inventory_of(drafter)};
  // Its layer and head: 2 x (256 x 512 qkv + 256 x 256 o + 3 x 512 x 256 + 3 x 256 norms + 2048 x 256 head) bytes.
  CHECK(total() - plain == Bytes(2 * (512 * 256 + 256 * 256 + 3 * 512 * 256 + 3 * 256 + 2048 * 256)));
  question.serving.speculative->method = "draft_model";
  CHECK(total() - plain == Bytes(2 * (512 * 256 + 256 * 256 + 3 * 512 * 256 + 3 * 256 + 2 * 2048 * 256)));
}

TEST_CASE("weights moved to host memory leave the card, never more than there are") {
  Question question = h100(kLlama31_8b, "0.19.0");
  const Asked asked = ask(question);
  const Rank rank = distinct_ranks(question.model, asked.settings).front();
  const double all = gib(LoadedWeights(question, asked.settings, asked.traits, rank).total(0));
  question.serving.cpu_offload_gb = 4;
  CHECK(gib(LoadedWeights(question, asked.settings, asked.traits, rank).total(0)) == doctest::Approx(all - 4));
  question.serving.cpu_offload_gb = 100;
  CHECK(LoadedWeights(question, asked.settings, asked.traits, rank).total(0).bytes == Bytes(0));
}

}  // namespace
}  // namespace kvfit::planner
