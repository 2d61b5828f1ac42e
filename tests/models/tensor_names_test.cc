// What names say, and how inventories add up and differ.
#include "models/tensor_names.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"
#include "models/tensor_inventory.h"

namespace kvfit::models {
namespace {

using profiles::DType;

// Two trunk layers, the second recurrent, and one DeepSeek-style draft layer behind them.
Model small_model() {
  Model model;
  model.layers.resize(2);
  model.layers[0].attention.emplace();
  model.layers[0].moe.emplace();
  model.layers[1].recurrent.emplace();
  model.layers[1].dense.emplace();
  model.draft.emplace();
  model.draft->prefix = "model.layers.2.";
  model.draft->layers.resize(1);
  return model;
}

Role role(std::string_view name) { return classify(name, small_model()).role; }

TEST_CASE("roles come from names") {
  CHECK(role("model.embed_tokens.weight") == Role::embedding);
  CHECK(role("transformer.wte.weight") == Role::embedding);
  CHECK(role("model.language_model.embed_tokens.weight") == Role::embedding);
  CHECK(role("lm_head.weight_scale") == Role::head);
  CHECK(role("model.norm.weight") == Role::norm);
  CHECK(role("transformer.ln_f.bias") == Role::norm);
  CHECK(role("model.layers.0.input_layernorm.weight") == Role::norm);
  CHECK(role("model.layers.0.layer_scalar") == Role::norm);
  CHECK(role("model.layers.0.self_attn.q_proj.weight_scale_2") == Role::attention);
  CHECK(role("model.layers.0.self_attn.q_norm.weight") == Role::attention);
  CHECK(role("model.layers.0.self_attn.indexer.wk.weight") == Role::indexer);
  CHECK(role("model.layers.1.linear_attn.norm.weight") == Role::linear_attention);
  CHECK(role("model.layers.1.mlp.gate_proj.weight") == Role::dense_mlp);
  CHECK(role("model.layers.0.mlp.gate.weight") == Role::router);
  CHECK(role("model.layers.0.mlp.gate.e_score_correction_bias") == Role::router);
  CHECK(role("model.layers.0.mlp.experts.e_score_correction_bias") == Role::router);
  CHECK(role("model.layers.0.mlp.experts.11.up_proj.weight") == Role::expert);
  CHECK(role("model.layers.0.mlp.experts.gate_up_proj_blocks") == Role::expert);
  CHECK(role("model.layers.0.block_sparse_moe.input_linear.weight") == Role::expert);
  CHECK(role("model.layers.0.mlp.shared_experts.up_proj.weight") == Role::shared_expert);
  CHECK(role("model.layers.0.mlp.shared_expert_gate.weight") == Role::shared_expert);
  CHECK(role("model.visual.blocks.3.attn.qkv.weight") == Role::vision);
  CHECK(role("multi_modal_projector.linear_1.weight") == Role::vision);
  CHECK(role("model.audio_tower.layers.0.self_attn.q_proj.weight") == Role::audio);
  CHECK(role("something.else") == Role::other);
}

TEST_CASE("the layer decides where the name alone cannot") {
  CHECK(role("model.layers.1.self_attn.qkv_proj.weight") == Role::linear_attention);  // lightning attention
  CHECK(role("backbone.layers.1.mixer.in_proj.weight") == Role::linear_attention);
  CHECK(role("backbone.layers.0.mixer.q_proj.weight") == Role::attention);
  CHECK(role("model.layers.1.shared_mlp.input_linear.weight") == Role::dense_mlp);  // Granite-4 without experts
  CHECK(role("model.layers.0.shared_mlp.input_linear.weight") == Role::shared_expert);
}

TEST_CASE("draft tensors keep the role they would have in the trunk") {
  const NameParts deepseek = classify("model.layers.2.self_attn.q_proj.weight", small_model());
  CHECK(deepseek.role == Role::draft);
  CHECK(deepseek.draft_role == Role::attention);
  CHECK(deepseek.layer == 0);
  const NameParts qwen = classify("mtp.layers.0.mlp.experts.5.up_proj.weight", small_model());
  CHECK(qwen.role == Role::draft);
  CHECK(qwen.draft_role == Role::expert);
  CHECK(qwen.expert == 5);
  CHECK(qwen.pattern == "mtp.layers.0.mlp.experts.{}.up_proj.weight");
  CHECK(classify("model.layers.2.shared_head.head.weight", small_model()).draft_role == Role::head);
  CHECK(classify("mtp.fc.weight", small_model()).draft_role == Role::other);
}

TEST_CASE("expert numbers stand behind 'experts', or one component later") {
  CHECK(find_expert_number("a.experts.7.up_proj.weight")->expert == 7);
  CHECK(find_expert_number("a.experts.gate_proj.42.weight_scale")->expert == 42);
  CHECK_FALSE(find_expert_number("a.experts.gate_up_proj"));
  CHECK_FALSE(find_expert_number("a.experts.gate_up_proj.weight.7"));
  CHECK_FALSE(find_expert_number("a.shared_experts.7.weight"));
  CHECK_FALSE(find_expert_number("a.experts.12345678901.weight"));
  CHECK_FALSE(find_expert_number("a.experts."));
}

Tensor expert(std::vector<std::int32_t> ids) {
  return {"l.experts.{}.w", Role::expert, Role::other, 0, std::move(ids), DType::u8, {4, 2}};
}

TEST_CASE("inventories add up by bytes, count and role") {
  TensorInventory inventory;
  inventory.tensors = {expert({0, 1, 5}), {"norm.weight", Role::norm, Role::other, -1, {}, DType::bf16, {3}}};
  CHECK(inventory.total() == Bytes(3 * 8 + 6));
  CHECK(inventory.total(Role::expert) == Bytes(24));
  CHECK(inventory.total(Role::draft) == Bytes(0));
  CHECK(inventory.tensor_count() == 4);
  std::vector<std::string> names;
  for_each_tensor(inventory, [&names](const std::string& name, const Tensor&) { names.push_back(name); });
  CHECK(names == std::vector<std::string>{"l.experts.0.w", "l.experts.1.w", "l.experts.5.w", "norm.weight"});
}

TEST_CASE("differences name the tensor, its type, its shape and the experts concerned") {
  TensorInventory a;
  TensorInventory b;
  a.tensors = {expert({0, 1, 2, 3}), {"x", Role::other, Role::other, -1, {}, DType::bf16, {3}}};
  b.tensors = {expert({0, 2, 3, 4}), {"x", Role::other, Role::other, -1, {}, DType::f32, {3}}};
  CHECK(differences(a, a).empty());
  CHECK(differences(a, b) == std::vector<std::string>{"- l.experts.{}.w U8 [4,2] experts 1",
                                                      "+ l.experts.{}.w U8 [4,2] experts 4", "- x BF16 [3]", "+ x F32 [3]"});
  CHECK(differences(a, b, 1).size() == 1);
  CHECK(differences(a, TensorInventory{}) ==
        std::vector<std::string>{"- l.experts.{}.w U8 [4,2] experts 0-3", "- x BF16 [3]"});
}

}  // namespace
}  // namespace kvfit::models
