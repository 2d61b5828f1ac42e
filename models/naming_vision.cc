// Source: transformers,
// src/transformers/models/{qwen3_vl,qwen2_vl,qwen2_5_vl,siglip,gemma3,gemma4,pixtral,mistral3}/modeling_*.py.
#include "models/naming_vision.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::models {
namespace {

using profiles::checked_mul;
using profiles::format;
using std::string_view;
using Shape = std::initializer_list<std::int64_t>;

// Writes names below a prefix.
class Tower {
 public:
  explicit Tower(const Vision& vision) : v_(vision) {}

  void at(std::string prefix) { prefix_ = std::move(prefix); }
  void tensor(string_view name, Shape shape) { out_.push_back({prefix_ + std::string(name), shape}); }
  /// weight [out, in] and bias [out]
  void module(string_view name, std::int64_t out, std::int64_t in) {
    tensor(format("{}.weight", name), {out, in});
    tensor(format("{}.bias", name), {out});
  }
  /// layer norm: weight and bias
  void norm(string_view name, std::int64_t width) {
    tensor(format("{}.weight", name), {width});
    tensor(format("{}.bias", name), {width});
  }
  std::int64_t merged() const { return checked_mul(v_.hidden, checked_mul(v_.merge, v_.merge)); }
  std::vector<VisionTensor> take() { return std::move(out_); }

 private:
  const Vision& v_;
  std::string prefix_;
  std::vector<VisionTensor> out_;
};

// Beside "model.language_model." stands "model.visual."; MLX exports call the pair "language_model.model." and
// "vision_tower."
std::string qwen_prefix(string_view language_prefix) {
  if (language_prefix.starts_with("model.language_model.")) return "model.visual.";
  return language_prefix.starts_with("language_model.model.") ? "vision_tower." : "visual.";
}

void add_qwen_patches(const Vision& v, Tower& tower) {
  tower.tensor("patch_embed.proj.weight", {v.hidden, v.channels, v.temporal_patch, v.patch, v.patch});
}

void add_qwen_attention(const Vision& v, Tower& tower) {
  tower.module("attn.qkv", 3 * v.hidden, v.hidden);
  tower.module("attn.proj", v.hidden, v.hidden);
}

std::vector<VisionTensor> qwen3_vl(const Vision& v, string_view language_prefix) {
  Tower tower(v);
  const std::string root = qwen_prefix(language_prefix);
  const std::int64_t merged = tower.merged();
  tower.at(root);
  add_qwen_patches(v, tower);
  tower.tensor("patch_embed.proj.bias", {v.hidden});
  tower.tensor("pos_embed.weight", {v.position_rows, v.hidden});
  tower.norm("merger.norm", v.hidden);
  tower.module("merger.linear_fc1", merged, merged);
  tower.module("merger.linear_fc2", v.out_hidden, merged);
  for (std::int64_t i = 0; i < v.deepstack; ++i) {
    tower.at(format("{}deepstack_merger_list.{}.", root, i));
    tower.norm("norm", merged);
    tower.module("linear_fc1", merged, merged);
    tower.module("linear_fc2", v.out_hidden, merged);
  }
  for (std::int64_t i = 0; i < v.layers; ++i) {
    tower.at(format("{}blocks.{}.", root, i));
    tower.norm("norm1", v.hidden);
    tower.norm("norm2", v.hidden);
    add_qwen_attention(v, tower);
    tower.module("mlp.linear_fc1", v.intermediate, v.hidden);
    tower.module("mlp.linear_fc2", v.hidden, v.intermediate);
  }
  return tower.take();
}

std::vector<VisionTensor> qwen2(const Vision& v, string_view language_prefix, bool gated) {
  Tower tower(v);
  const std::string root = qwen_prefix(language_prefix);
  const std::int64_t merged = tower.merged();
  tower.at(root);
  add_qwen_patches(v, tower);
  tower.tensor("merger.ln_q.weight", {v.hidden});
  if (!gated) tower.tensor("merger.ln_q.bias", {v.hidden});
  tower.module("merger.mlp.0", merged, merged);
  tower.module("merger.mlp.2", v.out_hidden, merged);
  for (std::int64_t i = 0; i < v.layers; ++i) {
    tower.at(format("{}blocks.{}.", root, i));
    add_qwen_attention(v, tower);
    if (gated) {
      tower.tensor("norm1.weight", {v.hidden});
      tower.tensor("norm2.weight", {v.hidden});
      tower.module("mlp.gate_proj", v.intermediate, v.hidden);
      tower.module("mlp.up_proj", v.intermediate, v.hidden);
      tower.module("mlp.down_proj", v.hidden, v.intermediate);
    } else {
      tower.norm("norm1", v.hidden);
      tower.norm("norm2", v.hidden);
      tower.module("mlp.fc1", v.intermediate, v.hidden);
      tower.module("mlp.fc2", v.hidden, v.intermediate);
    }
  }
  return tower.take();
}

std::vector<VisionTensor> qwen2_vl(const Vision& v, string_view language_prefix) { return qwen2(v, language_prefix, false); }

std::vector<VisionTensor> qwen2_5_vl(const Vision& v, string_view language_prefix) {
  return qwen2(v, language_prefix, true);
}

std::vector<VisionTensor> siglip(const Vision& v, string_view /*language_prefix*/) {
  Tower tower(v);
  tower.at("multi_modal_projector.");
  tower.tensor("mm_input_projection_weight", {v.hidden, v.out_hidden});
  tower.tensor("mm_soft_emb_norm.weight", {v.hidden});
  tower.at("vision_tower.vision_model.");
  tower.tensor("embeddings.patch_embedding.weight", {v.hidden, v.channels, v.patch, v.patch});
  tower.tensor("embeddings.patch_embedding.bias", {v.hidden});
  tower.tensor("embeddings.position_embedding.weight", {v.position_rows, v.hidden});
  tower.norm("post_layernorm", v.hidden);
  for (std::int64_t i = 0; i < v.layers; ++i) {
    tower.at(format("vision_tower.vision_model.encoder.layers.{}.", i));
    tower.norm("layer_norm1", v.hidden);
    tower.norm("layer_norm2", v.hidden);
    tower.module("mlp.fc1", v.intermediate, v.hidden);
    tower.module("mlp.fc2", v.hidden, v.intermediate);
    for (const string_view name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj"}) {
      tower.module(name, v.hidden, v.hidden);
    }
  }
  return tower.take();
}

// Gemma-4: linear layers wrapped (".linear"), a table of two position axes, no biases.
std::vector<VisionTensor> gemma4(const Vision& v, string_view /*language_prefix*/) {
  Tower tower(v);
  const std::int64_t head_dim = v.heads > 0 ? v.hidden / v.heads : 0;
  tower.at("model.");
  tower.tensor("embed_vision.embedding_projection.weight", {v.out_hidden, v.hidden});
  tower.tensor("vision_tower.patch_embedder.input_proj.weight", {v.hidden, v.channels * v.patch * v.patch});
  tower.tensor("vision_tower.patch_embedder.position_embedding_table", {2, v.position_rows, v.hidden});
  tower.tensor("vision_tower.std_bias", {v.hidden});
  tower.tensor("vision_tower.std_scale", {v.hidden});
  for (std::int64_t i = 0; i < v.layers; ++i) {
    tower.at(format("model.vision_tower.encoder.layers.{}.", i));
    for (const string_view name : {"input_layernorm.weight", "post_attention_layernorm.weight",
                                   "post_feedforward_layernorm.weight", "pre_feedforward_layernorm.weight"}) {
      tower.tensor(name, {v.hidden});
    }
    for (const string_view name : {"q_proj", "k_proj", "v_proj", "o_proj"}) {
      tower.tensor(format("self_attn.{}.linear.weight", name), {v.hidden, v.hidden});
    }
    tower.tensor("self_attn.q_norm.weight", {head_dim});
    tower.tensor("self_attn.k_norm.weight", {head_dim});
    tower.tensor("mlp.gate_proj.linear.weight", {v.intermediate, v.hidden});
    tower.tensor("mlp.up_proj.linear.weight", {v.intermediate, v.hidden});
    tower.tensor("mlp.down_proj.linear.weight", {v.hidden, v.intermediate});
  }
  return tower.take();
}

std::vector<VisionTensor> pixtral(const Vision& v, string_view /*language_prefix*/) {
  Tower tower(v);
  tower.at("multi_modal_projector.");
  tower.tensor("norm.weight", {v.hidden});
  tower.tensor("patch_merger.merging_layer.weight", {v.hidden, tower.merged()});
  tower.tensor("linear_1.weight", {v.out_hidden, v.hidden});
  tower.tensor("linear_2.weight", {v.out_hidden, v.out_hidden});
  tower.at("vision_tower.");
  tower.tensor("patch_conv.weight", {v.hidden, v.channels, v.patch, v.patch});
  tower.tensor("ln_pre.weight", {v.hidden});
  for (std::int64_t i = 0; i < v.layers; ++i) {
    tower.at(format("vision_tower.transformer.layers.{}.", i));
    tower.tensor("attention_norm.weight", {v.hidden});
    tower.tensor("ffn_norm.weight", {v.hidden});
    for (const string_view name : {"q_proj", "k_proj", "v_proj", "o_proj"}) {
      tower.tensor(format("attention.{}.weight", name), {v.hidden, v.hidden});
    }
    tower.tensor("feed_forward.gate_proj.weight", {v.intermediate, v.hidden});
    tower.tensor("feed_forward.up_proj.weight", {v.intermediate, v.hidden});
    tower.tensor("feed_forward.down_proj.weight", {v.hidden, v.intermediate});
  }
  return tower.take();
}

struct Kind {
  string_view name;  ///< Vision::kind
  std::vector<VisionTensor> (*tensors)(const Vision& vision, string_view language_prefix);
};

constexpr Kind kKinds[] = {{"qwen3_vl", qwen3_vl}, {"qwen2_vl", qwen2_vl}, {"qwen2_5_vl", qwen2_5_vl},
                           {"siglip", siglip},     {"gemma4", gemma4},     {"pixtral", pixtral}};

}  // namespace

std::vector<VisionTensor> vision_tensors(const Vision& vision, std::string_view language_prefix) {
  for (const Kind& kind : kKinds) {
    if (kind.name == vision.kind) return kind.tensors(vision, language_prefix);
  }
  if (vision.parameters > 0) return {{"vision_tower.(unnamed)", {vision.parameters}}};
  return {};
}

}  // namespace kvfit::models
