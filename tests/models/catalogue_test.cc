// The built-in catalogue: every profile reads, and says of its size what its publisher says.
#include "models/catalogue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/describe.h"
#include "models/inspect.h"
#include "models/tensor_inventory.h"
#include "profiles/catalog.h"
#include "profiles/document.h"
#include "profiles/error.h"

namespace kvfit::models {
namespace {

TEST_CASE("every built-in model reads, has a source and a name of its own") {
  const profiles::Catalog catalog;
  std::set<std::string> seen;
  const std::vector<ModelProfile> models = list_models(catalog);
  CHECK_GE(models.size(), 200);
  for (const ModelProfile& model : models) {
    CAPTURE(model.id);
    CHECK_FALSE(model.source.empty());
    CHECK_FALSE(model.as_of.empty());
    CHECK_FALSE(model.model.layers.empty());
    CHECK_FALSE(model.names.empty());
    CHECK(seen.insert(model.id).second);
    for (const std::string& name : model.names) {
      CAPTURE(name);
      CHECK(seen.insert(name).second);
    }
  }
}

TEST_CASE("sizes as published agree with the configs") {
  for (const ModelProfile& model : list_models(profiles::Catalog())) {
    CAPTURE(model.id);
    for (const std::string& finding : lint(model)) {
      CAPTURE(finding);
      CHECK(finding.find("as published") == std::string::npos);
    }
  }
}

// total_size of the published model.safetensors.index.json (or the sum of its shards), to the byte.
TEST_CASE("these checkpoints are derived to the byte") {
  const profiles::Catalog catalog;
  for (const char* id :
       {"deepseek-coder-6.7b", "devstral-small-2507", "gemma-2b", "gemma-3-27b", "gemma-4-26b-a4b", "gemma-4-31b",
        "gpt-oss-20b", "llama-3.1-8b-instruct-bnb-int8", "llama-3.1-8b-instruct-fp8-dynamic", "llama-3.1-8b-instruct-nvfp4",
        "llama-3.2-3b-instruct", "minimax-m1", "mixtral-8x22b", "nemotron-3-nano-30b-a3b", "qwen-72b", "qwen2-vl-7b",
        "qwen3-14b-mlx-4bit", "qwen3.6-27b", "smollm3-3b"}) {
    CAPTURE(id);
    const ModelProfile model = load_model(catalog, id);
    REQUIRE(model.checkpoint.has_value());
    CHECK_EQ(derive_inventory(model.model).total().count, model.checkpoint->count);
  }
}

// Bits of storage a parameter: all bytes over the parameters of the same model without quantisation, whose head and
// embedding stay wide in most exports.
double bits_a_parameter(const Model& model) {
  Model plain = model;
  plain.quantization = {};
  const double parameters = static_cast<double>(derive_inventory(plain).total().count) * 8 / profiles::bits(plain.dtype);
  return static_cast<double>(derive_inventory(model).total().count) * 8 / parameters;
}

// What an id promises, where embeddings and vision are a small part: scales add half a bit to NVFP4, 0.1 to 0.3 to grouped
// integers, next to nothing to FP8; what stays wide (head, embedding, attention of some exports, vision) adds the rest.
struct Promise {
  std::string_view word;
  std::string_view format;  ///< or one that begins so
  double low, high;
};

// Gemma-4 E2B's tables of embeddings are more than half of it; a 2B model's vision tower a third; NVIDIA's and RadixArk's
// exports leave attention and all but the routed experts wide (their boots print 31.18 GiB and more); MTPLX mixes 4 and 6
// bits.
const std::set<std::string> kMostlyWide = {"gemma-4-e2b-w4a16-qat", "qwen2-vl-2b-awq", "gemma-4-31b-nvfp4",
                                           "qwen3.8-flash-next-nvfp4", "qwen3.8-27b-mlx-4bit"};

const Promise* promise_of(std::string_view id) {
  static const std::vector<Promise> kPromises = {
      {"nvfp4", "nvfp4", 4.5, 8.0},  {"exl3-2bpw", "exl3", 2.0, 3.2}, {"exl2-4.25bpw", "exl2", 4.2, 4.5},
      {"bnb-4bit", "nf4", 4.0, 7.5}, {"bnb-int8", "int8", 8.0, 9.6},  {"mlx-4bit", "mlx_4bit", 4.4, 5.2},
      {"awq", "int4", 4.1, 7.2},     {"gptq", "int4", 4.1, 5.2},      {"w4a16", "int4", 4.1, 6.5},
      {"int4", "int4", 4.1, 6.5},    {"w8a8", "int8", 8.0, 9.6},      {"int8", "int8", 8.0, 9.6},
      {"fp8", "fp8", 8.0, 9.6},
  };
  for (const Promise& promise : kPromises) {
    if (id.find(promise.word) != std::string_view::npos) return &promise;
  }
  return nullptr;
}

TEST_CASE("an entry named for a format weighs what that format weighs, and much of it is stored so") {
  std::size_t quantised = 0;
  for (const ModelProfile& profile : list_models(profiles::Catalog())) {
    const Model& model = profile.model;
    const Promise* promise = promise_of(model.id);
    CAPTURE(model.id);
    const TensorInventory inventory = derive_inventory(model);
    std::vector<std::string> formats;  // of a quarter of the bytes at least
    for (const FormatShare& share : weight_formats(inventory, model)) {
      if (kMostlyWide.contains(model.id) || share.bytes.count >= inventory.total().count / 4)
        formats.push_back(share.format);
    }
    REQUIRE_FALSE(formats.empty());
    CAPTURE(formats.front());
    const double bits = bits_a_parameter(model);
    CAPTURE(bits);
    if (model.quantization.method.empty()) {
      CHECK(promise == nullptr);
      CHECK(bits == doctest::Approx(profiles::bits(model.dtype)));
      continue;
    }
    ++quantised;
    CHECK(bits < 16);
    if (promise == nullptr) continue;
    CHECK(bits >= promise->low);
    CHECK(bits <= (kMostlyWide.contains(model.id) ? 16 : promise->high));
    CHECK(std::any_of(formats.begin(), formats.end(),
                      [promise](const std::string& format) { return format.starts_with(promise->format); }));
  }
  CHECK(quantised >= 80);
}

// 35.95e9 parameters (71,903,645,408 bytes / 2); its 256 experts in bf16: 3 x 2048 x 512 x 256 x 40 = 32.21e9.
TEST_CASE("the parameters of Qwen3.6-35B-A3B add up to the published bytes") {
  const ModelProfile model = load_model(profiles::Catalog(), "Qwen/Qwen3.6-35B-A3B");
  CHECK_EQ(model.id, "qwen3.6-35b-a3b");
  CHECK_EQ(derive_inventory(model.model).total().count, 71903645408);
}

// Published rungs of the carve: 19.8, 17.3 and 14.9 GiB for 192, 160 and 128 experts.
TEST_CASE("the default model weighs what its carves weigh, within 4 percent") {
  const ModelProfile model = load_model(profiles::Catalog(), "qwen3.6-35b-a3b-nvfp4-unsloth");
  const auto gib = [&](std::int64_t experts) {
    return profiles::to_gib(derive_inventory(with_experts(model.model, experts)).total());
  };
  CHECK(gib(192) == doctest::Approx(19.8).epsilon(0.04));
  CHECK(gib(160) == doctest::Approx(17.3).epsilon(0.04));
  CHECK(gib(128) == doctest::Approx(14.9).epsilon(0.04));
}

TEST_CASE("two NVFP4 exports of one model differ where their publishers say") {
  const Model nvidia = load_model(profiles::Catalog(), "nvidia/Qwen3.6-35B-A3B-NVFP4").model;
  const Model unsloth = load_model(profiles::Catalog(), "unsloth/Qwen3.6-35B-A3B-NVFP4").model;
  const auto name = [](const Model& model, const std::string& module) {
    return format_name(format_of(model.quantization, module, model.dtype));
  };
  const std::string layer = "model.language_model.layers.3.";
  CHECK_EQ(name(nvidia, layer + "mlp.experts.7.up_proj"), "nvfp4_w4a16");
  CHECK_EQ(name(unsloth, layer + "mlp.experts.7.up_proj"), "nvfp4");
  CHECK_EQ(name(nvidia, layer + "self_attn.q_proj"), "fp8_tensor");
  CHECK_EQ(name(unsloth, layer + "self_attn.q_proj"), "bf16");
  CHECK_EQ(name(nvidia, "lm_head"), "nvfp4_w4a16");
  CHECK_EQ(name(unsloth, "lm_head"), "bf16");
  CHECK_EQ(name(nvidia, "mtp.layers.0.mlp.experts.7.up_proj"), "bf16");
  CHECK_EQ(name(unsloth, "mtp.layers.0.mlp.experts.7.up_proj"), "bf16");
}

TEST_CASE("a profile without config or spec is refused") {
  const profiles::Node document =
      profiles::parse_yaml("names: [a/b]\nsource: here\nas_of: \"2026-01-01\"\nconfig: null\nspec: null\n", "m.yaml");
  CHECK_THROWS_WITH_AS(read_model(document, "m", "m.yaml"), doctest::Contains("model_type"), profiles::Error);
}

}  // namespace
}  // namespace kvfit::models
