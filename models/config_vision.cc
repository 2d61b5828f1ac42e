// The vision tower and the audio tower, as far as a config describes them. Parameter counts follow the published modelling
// files (transformers src/transformers/models/{qwen2_vl,qwen2_5_vl,qwen3_vl,siglip,pixtral,llama4,gemma4,glm4v}); a tower of
// a kind not listed is counted as a plain transformer and named in Model::missing.
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "models/config.h"
#include "models/config_parts.h"
#include "models/model.h"
#include "profiles/document.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::format;
using profiles::Node;

std::int64_t read(const Node& map, Keys keys, std::int64_t fallback, Range range = kWidthOrNone) {
  for (const std::string_view key : keys) {
    if (const Node* node = map.find(key); node && node->is_number()) return node->integer(range.lo, range.hi);
  }
  return fallback;
}

struct Kind {
  std::string_view wrapper;  ///< model_type of the whole config, or of vision_config
  std::string_view kind;
};
constexpr Kind kKinds[] = {
    {"qwen2_vl", "qwen2_vl"},
    {"qwen2_5_vl", "qwen2_5_vl"},
    {"qwen3_vl", "qwen3_vl"},
    {"qwen3_vl_moe", "qwen3_vl"},
    {"qwen3_5", "qwen3_vl"},
    {"qwen3_5_moe", "qwen3_vl"},
    {"qwen4_exp", "qwen3_vl"},
    {"qwen3_omni_moe_vision_encoder", "qwen3_vl"},
    {"qwen2_5_omni_vision_encoder", "qwen2_5_vl"},
    {"siglip_vision_model", "siglip"},
    {"pixtral", "pixtral"},
    {"llama4_vision_model", "llama4"},
    {"gemma4_vision", "gemma4"},
    {"gemma4_unified_vision", "gemma4_unified"},
    {"moonvit", "moonvit"},
    {"kimi_k25", "moonvit"},
    {"kimi_k3", "moonvit"},
    {"glm4v", "glm4v"},
    {"glm4v_moe", "glm4v"},
    {"glm5_next", "glm4v"},
};

std::string tower_kind(const Node& root, const Node& tower) {
  for (const Node* map : {&tower, &root}) {
    const Node* type = map->find("model_type");
    for (const Kind& row : kKinds) {
      if (type && type->is_string() && type->string() == row.wrapper) return std::string(row.kind);
    }
  }
  return "other";
}

// Attention with four square matrices, two norms, a feed-forward; biases as asked.
std::int64_t block(std::int64_t h, std::int64_t i, bool gated, bool bias, bool norm_bias, int norms = 2) {
  const std::int64_t attention = 4 * h * h + (bias ? 4 * h : 0);
  const std::int64_t up = gated ? 2 : 1;
  const std::int64_t feed = (up + 1) * h * i + (bias ? up * i + h : 0);
  return attention + feed + norms * h * (norm_bias ? 2 : 1);
}

// Merges a square of patches and projects: norm, (m*m*h)^2, m*m*h x out.
std::int64_t merger(const Vision& v, std::int64_t norm) {
  const std::int64_t wide = v.hidden * v.merge * v.merge;
  return norm + wide * wide + wide + wide * v.out_hidden + v.out_hidden;
}

std::int64_t count_qwen(const Vision& v) {
  const bool gated = v.kind == "qwen2_5_vl";
  const std::int64_t pixels = v.channels * v.temporal_patch * v.patch * v.patch;
  std::int64_t out = v.layers * block(v.hidden, v.intermediate, gated, true, !gated);
  out += pixels * v.hidden + (v.kind == "qwen3_vl" ? v.hidden : 0) + v.position_rows * v.hidden;
  out += merger(v, gated ? v.hidden : 2 * v.hidden);
  return out + v.deepstack * merger(v, 2 * v.hidden * v.merge * v.merge);
}

std::int64_t count_siglip(const Vision& v) {
  const std::int64_t patch = v.channels * v.patch * v.patch * v.hidden + v.hidden;
  return v.layers * block(v.hidden, v.intermediate, false, true, true) + patch + v.position_rows * v.hidden + 2 * v.hidden +
         v.hidden * v.out_hidden + v.hidden;
}

std::int64_t count_pixtral(const Vision& v) {
  const std::int64_t patch = v.channels * v.patch * v.patch * v.hidden + v.hidden;
  const std::int64_t projector =
      v.hidden + v.merge * v.merge * v.hidden * v.hidden + v.hidden * v.out_hidden + v.out_hidden * v.out_hidden;
  return v.layers * block(v.hidden, v.intermediate, true, false, false) + patch + projector;
}

std::int64_t count_llama4(const Vision& v, const Node& tower) {
  const std::int64_t inner = read(tower, {"projector_input_dim"}, 4096);
  const std::int64_t output = read(tower, {"vision_output_dim"}, 4096);
  const std::int64_t patch = v.channels * v.patch * v.patch * v.hidden + v.hidden + v.position_rows * v.hidden;
  return v.layers * block(v.hidden, v.intermediate, false, true, true) + patch + 4 * v.hidden + 4 * v.hidden * inner +
         inner * output + output * v.out_hidden;
}

std::int64_t count_moonvit(const Vision& v, const Node& tower) {
  const std::int64_t wide = read(tower, {"qkv_hidden_size"}, v.hidden);
  const std::int64_t attention = 4 * v.hidden * (wide - v.hidden);
  const std::int64_t patch = v.channels * v.patch * v.patch * v.hidden + v.hidden + v.position_rows * v.hidden;
  return v.layers * (block(v.hidden, v.intermediate, false, true, true) + attention) + patch + 2 * v.hidden +
         merger(v, 2 * v.hidden);
}

std::int64_t count_gemma4(const Vision& v) {
  const std::int64_t patch = v.channels * v.patch * v.patch * v.hidden + 2 * v.position_rows * v.hidden;
  const std::int64_t head = v.heads > 0 ? v.hidden / v.heads : 0;
  return v.layers * (block(v.hidden, v.intermediate, true, false, false, 4) + 2 * head) + patch + v.hidden * v.out_hidden +
         2 * v.hidden;
}

// No tower: patches are projected straight into the language model's width.
std::int64_t count_gemma4_unified(const Vision& v, const Node& tower) {
  const std::int64_t side = v.patch * read(tower, {"pooling_kernel_size"}, 1);
  const std::int64_t embed = read(tower, {"mm_embed_dim"}, v.out_hidden);
  return v.channels * side * side * embed + 2 * read(tower, {"mm_posemb_size"}, 0) * embed + embed * v.out_hidden;
}

std::int64_t count_glm(const Vision& v, const Node& tower) {
  const std::int64_t patch =
      v.channels * v.temporal_patch * v.patch * v.patch * v.hidden + v.hidden + v.position_rows * v.hidden;
  const std::int64_t wide = read(tower, {"projection_intermediate_size"}, v.intermediate);
  const std::int64_t join = v.merge * v.merge * v.hidden * v.out_hidden + v.out_hidden;
  const std::int64_t project = v.out_hidden * v.out_hidden + 2 * v.out_hidden + 3 * v.out_hidden * wide;
  return v.layers * block(v.hidden, v.intermediate, true, true, false) + patch + 2 * v.hidden + join + project;
}

std::int64_t count_parameters(const Vision& v, const Node& tower) {
  if (v.kind == "qwen2_vl" || v.kind == "qwen2_5_vl" || v.kind == "qwen3_vl") return count_qwen(v);
  if (v.kind == "siglip") return count_siglip(v);
  if (v.kind == "pixtral") return count_pixtral(v);
  if (v.kind == "llama4") return count_llama4(v, tower);
  if (v.kind == "moonvit") return count_moonvit(v, tower);
  if (v.kind == "gemma4") return count_gemma4(v);
  if (v.kind == "gemma4_unified") return count_gemma4_unified(v, tower);
  if (v.kind == "glm4v") return count_glm(v, tower);
  return v.layers * block(v.hidden, v.intermediate, false, true, true) + v.hidden * v.out_hidden;
}

// Language tokens of the largest image the processor makes.
std::int64_t item_tokens(const Vision& v, const Node& root, const Node& tower) {
  const std::int64_t side = v.patch > 0 ? read(tower, {"image_size"}, 0) / v.patch : 0;
  if (v.kind == "qwen2_vl" || v.kind == "qwen2_5_vl" || v.kind == "qwen3_vl") return 16384;  // processor's max_pixels
  if (v.kind == "siglip") return read(root, {"mm_tokens_per_image"}, side * side);
  if (v.kind == "gemma4" || v.kind == "gemma4_unified") return read(root, {"vision_soft_tokens_per_image"}, 280);
  if (v.kind == "pixtral") return (side / v.merge) * (side / v.merge);
  if (v.kind == "llama4") return 17 * side * side / 4;  // 16 tiles and the whole, four patches a token
  if (v.kind == "moonvit") return 4096;                 // the processor's limit of 16,384 patches, four a token
  return v.merge > 0 ? side * side / (v.merge * v.merge) : 0;
}

void read_geometry(const Node& root, const Node& tower, std::int64_t text_hidden, Vision& v) {
  const bool qwen2 = v.kind == "qwen2_vl" || v.kind == "qwen2_5_vl";  // the library's default depth
  v.layers = read(tower, {"depth", "num_hidden_layers", "vt_num_hidden_layers"}, qwen2 ? 32 : 0, kSmall);
  v.hidden = read(tower, {"embed_dim", "vt_hidden_size", "hidden_size", "mm_embed_dim"}, 0);
  v.intermediate =
      read(tower, {"intermediate_size", "vt_intermediate_size"}, read(tower, {"mlp_ratio"}, 4, {0, 64}) * v.hidden);
  v.heads = read(tower, {"num_heads", "num_attention_heads", "vt_num_attention_heads"}, 0);
  v.out_hidden = read(tower, {"out_hidden_size", "text_hidden_size"}, text_hidden);
  if (v.kind == "qwen2_vl") v.out_hidden = read(tower, {"hidden_size"}, text_hidden);
  v.patch = read(tower, {"patch_size", "spatial_patch_size"}, 0);
  v.temporal_patch = read(tower, {"temporal_patch_size"}, 1);
  v.merge = read(tower, {"spatial_merge_size"}, read(root, {"spatial_merge_size"}, 1));
  if (tower.has("merge_kernel_size") && tower.at("merge_kernel_size").is_list()) v.merge = 2;
  v.channels = read(tower, {"in_channels", "in_chans", "num_channels"}, 3);
  v.position_rows = read(tower, {"num_position_embeddings", "position_embedding_size"}, 0);
  const std::int64_t side = v.patch > 0 ? read(tower, {"image_size"}, 0) / v.patch : 0;
  if (v.position_rows == 0 && v.kind == "moonvit") {
    v.position_rows = read(tower, {"init_pos_emb_height"}, 64) * read(tower, {"init_pos_emb_width"}, 64);
  }
  if (v.position_rows == 0 && v.kind != "pixtral") v.position_rows = side * side + (v.kind == "llama4" ? 1 : 0);
  if (const Node* levels = tower.find("deepstack_visual_indexes"))
    v.deepstack = static_cast<std::int64_t>(levels->list().size());
}

}  // namespace

std::optional<Vision> read_vision(const Config& config) {
  const Node* tower = config.root().find("vision_config");
  if (!tower) tower = config.find({"vision_config"});
  if (!tower || !tower->is_map() || tower->members().empty()) return std::nullopt;
  Vision out;
  out.kind = tower_kind(config.root(), *tower);
  read_geometry(config.root(), *tower, config.need({"hidden_size", "d_model"}, kWidth), out);
  out.parameters = count_parameters(out, *tower);
  out.max_item_tokens = item_tokens(out, config.root(), *tower);
  if (out.kind == "other") {
    config.assume("the vision tower's layout is not known: counted as a plain transformer");
  }
  return out;
}

std::optional<std::int64_t> read_audio(const Config& config) {
  const Node* tower = config.root().find("audio_config");
  if (!tower || !tower->is_map()) return std::nullopt;
  const std::int64_t layers = read(*tower, {"num_hidden_layers", "encoder_layers", "conf_num_hidden_layers"}, 0, kSmall);
  const std::int64_t hidden = read(*tower, {"hidden_size", "d_model", "audio_embed_dim"}, 0);
  const std::int64_t text = config.need({"hidden_size"}, kWidth);
  // Without layers there is only a projection (Gemma-4-12B, whose 11.96e9 parameters this gives).
  if (layers > 0) config.assume("the audio tower's layout is not known: counted as a plain transformer");
  return layers * block(hidden, read(*tower, {"intermediate_size", "encoder_ffn_dim"}, 4 * hidden), false, true, true) +
         hidden * text;
}

}  // namespace kvfit::models
