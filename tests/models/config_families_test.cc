// Families without a published index at hand: the parameters that their model cards state, from the keys of their configs.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "models/config_reader.h"
#include "models/tensor_inventory.h"
#include "profiles/document.h"

namespace kvfit::models {
namespace {

double billions(const Model& model) {
  double out = 0;
  for (const Tensor& tensor : derive_inventory(model).tensors) {
    double elements = static_cast<double>(tensor.count());
    for (const std::int64_t extent : tensor.shape) elements *= static_cast<double>(extent);
    out += elements / 1e9;
  }
  return out;
}

TEST_CASE("parameters add up to what the model cards state") {
  struct Card {
    const char* name;
    double billions;  ///< as printed; rounded to the digits given
  };
  static constexpr Card kCards[] = {
      {"Kimi-Linear-48B-A3B", 49.1},
      {"Nemotron-Nano-9B-v2", 8.89},
      {"Command-A", 111},
      {"OLMo-3-7B", 7.3},
      {"dots.llm1", 142.8},
      {"ERNIE-4.5-300B-A47B", 300},
      {"DeepSeek-V2", 235.7},
      {"Minitron-4B", 4.19},
      {"Seed-OSS-36B", 36.15},
      {"GLM-4-32B-0414", 32.57},
      {"StableLM-2-1.6B", 1.644},
      {"Granite-4.0-Micro", 3.4},
      {"Jamba-Reasoning-3B", 3.03},
      {"Ministral-8B", 8.02},
      {"EXAONE-4.0-32B", 32.0},
      {"Ling-lite", 16.8},
      {"Falcon-7B", 6.92},
      {"Apertus-8B", 8.05},
      {"EXAONE-3.5-7.8B", 7.82},
      {"GLM-4-9B-Chat", 9.4},
      {"Baichuan2-7B", 7.51},
      {"OLMo-7B", 6.89},
      {"opt-125m", 0.125239296},
      {"gpt2", 0.124439808},
      {"pythia-1.4b", 1.414647808},
      {"Mamba-Codestral-7B", 7.285},
      {"Falcon-Mamba-7B", 7.27},
  };
  for (const Card& card : kCards) {
    CAPTURE(card.name);
    const std::string path = std::string(KVFIT_TEST_DATA) + "/configs/families/" + card.name + ".json";
    const Model model = read_config(profiles::parse_json(profiles::read_text_file(path), path), nullptr, card.name);
    CHECK(billions(model) == doctest::Approx(card.billions).epsilon(0.005));
  }
}

// What has no role is held whole by every rank: no large tensor may be left without one.
TEST_CASE("every large tensor of these families has a role") {
  for (const char* name : {"opt-125m", "gpt2", "pythia-1.4b", "GLM-4-9B-Chat", "EXAONE-3.5-7.8B", "Apertus-8B",
                           "Baichuan2-7B", "OLMo-7B", "Mamba-Codestral-7B", "Falcon-Mamba-7B"}) {
    CAPTURE(name);
    const std::string path = std::string(KVFIT_TEST_DATA) + "/configs/families/" + name + ".json";
    const Model model = read_config(profiles::parse_json(profiles::read_text_file(path), path), nullptr, name);
    for (const Tensor& tensor : derive_inventory(model).tensors) {
      CAPTURE(tensor.name);
      const bool counted_only = tensor.name.ends_with("(unnamed)");  // learned positions
      CHECK((tensor.role != Role::other || counted_only || tensor.bytes().count < 1 << 20));
    }
  }
}

// Counts that transformers prints for these checkpoints, learned positions, biases and norms included.
TEST_CASE("older decoders are counted to the parameter") {
  for (const auto& [name, parameters] :
       {std::pair("opt-125m", 125239296), std::pair("gpt2", 124439808), std::pair("pythia-1.4b", 1414647808)}) {
    CAPTURE(name);
    const std::string path = std::string(KVFIT_TEST_DATA) + "/configs/families/" + name + ".json";
    const Model model = read_config(profiles::parse_json(profiles::read_text_file(path), path), nullptr, name);
    CHECK(std::llround(billions(model) * 1e9) == parameters);
  }
}

TEST_CASE("a rope type nobody knows leaves the positions as stated, and is said") {
  const std::string config =
      R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 128,
          "vocab_size": 100, "max_position_embeddings": 512, "torch_dtype": "bfloat16",
          "rope_scaling": {"rope_type": "mystery", "factor": 4}})";
  const Model model = read_config(profiles::parse_json(config, "config.json"), nullptr, "x");
  CHECK(model.max_position == 512);
  CHECK(model.missing == std::vector<std::string>{"rope type 'mystery' is not known: positions are taken as stated"});
}

// "LLLG": three layers see a window, the fourth everything.
TEST_CASE("a window pattern may be spelled in letters") {
  const std::string config =
      R"({"model_type": "exaone4", "hidden_size": 64, "num_hidden_layers": 8, "num_attention_heads": 4, "intermediate_size": 128,
          "vocab_size": 100, "max_position_embeddings": 512, "sliding_window": 16, "sliding_window_pattern": "LLLG"})";
  const Model model = read_config(profiles::parse_json(config, "config.json"), nullptr, "x");
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK((model.layers[i].attention->kind == Attention::Kind::full) == (i % 4 == 3));
  }
}

// The thinker of an omni model holds text, vision and audio; the engine serves that part.
TEST_CASE("an omni model's towers are those of its thinker") {
  const std::string config =
      R"({"model_type": "qwen3_omni_moe", "thinker_config": {"text_config": {"model_type": "qwen3_omni_moe_text",
          "hidden_size": 2048, "num_hidden_layers": 2, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
          "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 768, "vocab_size": 1000,
          "max_position_embeddings": 65536},
          "vision_config": {"model_type": "qwen3_omni_moe_vision_encoder", "depth": 27, "hidden_size": 1152,
          "intermediate_size": 4304, "num_heads": 16, "num_position_embeddings": 2304, "out_hidden_size": 2048, "patch_size": 16,
          "spatial_merge_size": 2, "temporal_patch_size": 2}}})";
  const Model model = read_config(profiles::parse_json(config, "config.json"), nullptr, "x");
  CHECK_EQ(model.family, "qwen3_omni_moe_text");
  REQUIRE(model.vision.has_value());
  CHECK_EQ(model.vision->parameters, 446571248);  // the tower of Qwen3.6-35B-A3B, which has the same shape
  CHECK_EQ(model.ropes.at(0).rows, 4 * 65536);
}

}  // namespace
}  // namespace kvfit::models
