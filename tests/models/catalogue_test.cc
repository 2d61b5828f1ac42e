// The built-in catalogue: every profile reads, and says of its size what its publisher says.
#include "models/catalogue.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "models/describe.h"
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
