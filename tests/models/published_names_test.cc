// Derived inventories against the indexes of 25 published checkpoints: every name, and the bytes their metadata states.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "models/config_reader.h"
#include "models/tensor_inventory.h"
#include "profiles/document.h"
#include "tests/support/name_index.h"

namespace kvfit::models {
namespace {

using Names = std::vector<std::string>;

const std::string kIndexes = std::string(KVFIT_TEST_DATA) + "/indexes/";

Model read(const std::string& name) {
  const profiles::Node config = profiles::parse_json(profiles::read_text_file(kIndexes + name + ".config.json"), name);
  const std::string sidecar = kIndexes + name + ".hf_quant_config.json";
  if (!std::filesystem::exists(sidecar)) return read_config(config, nullptr, name);
  const profiles::Node quantization = profiles::parse_json(profiles::read_text_file(sidecar), sidecar);
  return read_config(config, &quantization, name);
}

tests::NameIndex index_of(const std::string& name) {
  return tests::parse_name_index(profiles::read_text_file(kIndexes + name + ".index.txt"));
}

Names names_of(const TensorInventory& inventory) {
  Names out;
  for_each_tensor(inventory, [&out](const std::string& name, const Tensor&) { out.push_back(name); });
  std::sort(out.begin(), out.end());
  return out;
}

Names without(const Names& a, const Names& b) {
  Names out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

// The names must be the same but for those stated; returns what the index states in bytes above what is derived.
std::int64_t compare(const std::string& name, const Model& model, Names only_published = {}, Names only_derived = {}) {
  CAPTURE(name);
  const tests::NameIndex index = index_of(name);
  const TensorInventory derived = derive_inventory(model);
  const Names names = names_of(derived);
  std::sort(only_published.begin(), only_published.end());
  std::sort(only_derived.begin(), only_derived.end());
  CHECK(without(index.names, names) == only_published);
  CHECK(without(names, index.names) == only_derived);
  return index.total_size - derived.total().count;
}

std::int64_t compare(const std::string& name) { return compare(name, read(name)); }

TEST_CASE("names and bytes are exactly the published ones") {
  for (const char* name : {"SmolLM3-3B", "Reflection-Llama-3.1-70B", "MiniMax-M1", "Qwen-72B", "Qwen2.5-3B-finetune",
                           "cogito-v1-preview-qwen-14B", "deepseek-coder-6.7b-sft", "gemma-2b", "medgemma-27b-it",
                           "Meta-Llama3.1-8B-Instruct-bnb-int8", "gemma-3-4b-text", "Llama-3.2-3B-Instruct",
                           "Devstral-Small-2507", "Qwen3-14B-MLX-4bit", "Meta-Llama-3.1-8B-Instruct-FP8-dynamic",
                           "Llama-3.1-8B-Instruct-NVFP4", "gpt-oss-20b", "Qwen3-1.7B-MLX-bf16"}) {
    CHECK_EQ(compare(name), 0);
  }
}

TEST_CASE("Cosmos-Reason2-8B: the names agree; the index states no size") {
  // Qwen3-VL-8B: 8,767,123,696 parameters by its model card, in bf16.
  CHECK_EQ(compare("Cosmos-Reason2-8B"), -2 * std::int64_t{8'767'123'696});
}

TEST_CASE("falcon-180B stores a head although its config ties it to the embedding") {
  // 65,024 rows x 14,848 x 2 bytes
  CHECK_EQ(compare("falcon-180B-chat", read("falcon-180B-chat"), {"lm_head.weight"}), 1'930'952'704);
}

TEST_CASE("AutoGPTQ of 2023 wrote a bias of zeros beside every matrix that has none") {
  Names biases;
  for (const char* module : {"attn.c_proj", "mlp.c_proj", "mlp.w1", "mlp.w2"}) {
    const Names of_module = tests::expand_runs(std::string("transformer.h.{0-31}.") + module + ".bias");
    biases.insert(biases.end(), of_module.begin(), of_module.end());
  }
  // 32 layers x (4096 + 4096 + 11008 + 11008) x 2 bytes
  CHECK_EQ(compare("Qwen-7B-Chat-Int4", read("Qwen-7B-Chat-Int4"), biases), 1'933'312);
}

TEST_CASE("an expert-pruned Qwen3.5 stores its experts one by one and left the draft out") {
  Model model = read("Qwen3.5-18B-REAP-A3B-Coding");
  model.draft.reset();
  for (Layer& layer : model.layers) layer.moe->fused_storage = false;
  CHECK_EQ(compare("Qwen3.5-18B-REAP-A3B-Coding", model), 0);
}

TEST_CASE("a GLM-4.5 merge left the draft's embedding and head out, trimmed the vocabulary and rounded a bias") {
  // 151,552 - 151,365 = 187 rows of two matrices x 5120 x 2 bytes, and 89 correction biases of 160 numbers in bf16.
  CHECK_EQ(compare("GLM-4.5-355B-merge", read("GLM-4.5-355B-merge"), {},
                   {"model.layers.92.embed_tokens.weight", "model.layers.92.shared_head.head.weight"}),
           -2 * std::int64_t{151'552} * 5120 * 2 - 2 * 187 * 5120 * 2 - 89 * 160 * 2);
}

TEST_CASE("an index may state the size of its files: tensors plus about 131 bytes of header each") {
  const std::int64_t headers = compare("gemma-4-26B-A4B-it-AWQ-4bit");
  CHECK(headers == 4'681'016);
  CHECK(headers / 35'743 == 130);
}

TEST_CASE("an MLX export of Qwen3.8-27B keeps draft and tower in files of their own; its index names the tower") {
  Model model = read("Qwen3.8-27B-MTPLX-Optimized-Speed");
  model.draft.reset();
  CHECK_EQ(compare("Qwen3.8-27B-MTPLX-Optimized-Speed", model), 0);
}

// tests/data/configs holds configs whose checkpoints' tensor bytes are published.
std::int64_t derived_bytes(const std::string& name) {
  const profiles::Node config =
      profiles::parse_json(profiles::read_text_file(std::string(KVFIT_TEST_DATA) + "/configs/" + name + ".json"), name);
  return derive_inventory(read_config(config, nullptr, name)).total().count;
}

TEST_CASE("published sizes of checkpoints whose names are not at hand") {
  // mlx-community bf16 copy 70,214,363,872 without the draft, plus the 19 mtp tensors' 1,689,281,536.
  CHECK_EQ(derived_bytes("Qwen3.6-35B-A3B"), 71'903'645'408);
  // Model pages and public inference cards (exo-explore/exo, resources/inference_model_cards).
  CHECK_EQ(derived_bytes("gemma-4-26B-A4B"), 51'611'872'412);
}

TEST_CASE("every published name has a role") {
  for (const char* name : {"MiniMax-M1", "GLM-4.5-355B-merge", "Qwen-7B-Chat-Int4", "Qwen3.8-27B-MTPLX-Optimized-Speed",
                           "Qwen3.5-18B-REAP-A3B-Coding", "gemma-4-26B-A4B-it-AWQ-4bit", "Mistral-Small-4-119B-MLX-4bit",
                           "medgemma-27b-it", "Cosmos-Reason2-8B", "falcon-180B-chat", "gpt-oss-20b"}) {
    CAPTURE(name);
    const Model model = read(name);
    Names unknown;
    for (const std::string& tensor : index_of(name).names) {
      const NameParts parts = classify(tensor, model);
      if (parts.role == Role::other) unknown.push_back(tensor);
    }
    CHECK(unknown == Names{});
  }
}

}  // namespace
}  // namespace kvfit::models
