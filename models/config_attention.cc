// Heads, widths, biases and windows of one attention layer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/config.h"
#include "models/config_parts.h"
#include "models/family.h"
#include "models/layer.h"
#include "profiles/document.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::format;
using profiles::Node;

const Keys kHeadKeys = {"num_attention_heads", "n_heads", "n_head"};
const Keys kKvKeys = {"num_key_value_heads", "num_kv_heads", "num_attention_groups", "attn_config.kv_n_heads",
                      "multi_query_group_num"};
const Keys kHeadDimKeys = {"head_dim", "attention_head_dim", "kv_channels"};
const Keys kWindowKeys = {"sliding_window", "sliding_window_size"};

std::int64_t default_head_dim(const Config& config, std::int64_t heads) {
  const std::int64_t hidden = config.need({"hidden_size", "d_model", "n_embd"}, kWidth);
  const std::int64_t stated = config.get(kHeadDimKeys, 0, kWidthOrNone);
  return stated > 0 ? stated : hidden / heads;
}

std::int64_t default_kv_heads(const Config& config, std::int64_t heads) {
  if (config.flag({"multi_query"}, false) && !config.flag({"new_decoder_architecture"}, false)) return 1;
  return config.get(kKvKeys, heads, kHeads);
}

// Layers that slide may have heads of their own (MiMo-V2, Step-3.5), and so may layers that do not (Gemma-4).
void read_heads(const Config& config, Mix mix, int layer, Attention& out) {
  const bool slides = mix == Mix::sliding;
  out.heads = config.need(kHeadKeys, kHeads);
  out.kv_heads = default_kv_heads(config, out.heads);
  out.head_dim = default_head_dim(config, out.heads);
  out.head_dim_v = config.get({"v_head_dim"}, out.head_dim, kWidth);
  if (slides) {
    out.heads = config.get({"swa_num_attention_heads", "attention_other_setting.num_attention_heads"}, out.heads, kHeads);
    out.kv_heads =
        config.get({"swa_num_key_value_heads", "attention_other_setting.num_attention_groups"}, out.kv_heads, kHeads);
    out.head_dim = config.get({"swa_head_dim", "attention_other_setting.head_dim"}, out.head_dim, kWidth);
    const std::int64_t unstated = config.has({"v_head_dim"}) ? out.head_dim_v : out.head_dim;
    out.head_dim_v = config.get({"swa_v_head_dim"}, unstated, kWidth);
  } else if (config.get({"global_head_dim"}, 0, kWidthOrNone) > 0) {
    out.head_dim = config.get({"global_head_dim"}, out.head_dim, kWidth);
    out.head_dim_v = out.head_dim;
    // Only a checkpoint whose full layers take K for V has key-value heads of their own (Gemma-4).
    out.k_is_v = config.flag({"attention_k_eq_v"}, false);
    if (out.k_is_v) out.kv_heads = config.get({"num_global_key_value_heads"}, out.kv_heads, kHeads);
  }
  if (const Node* blocks = config.find({"block_configs"})) {
    const Node& block = blocks->list()[static_cast<std::size_t>(layer)];
    if (const Node* group = block.at("attention").find("n_heads_in_group"))
      out.kv_heads = out.heads / group->integer(1, out.heads);
  }
}

void read_window(const Config& config, Mix mix, Attention& out) {
  if (mix == Mix::sliding) {
    out.kind = Attention::Kind::sliding;
    out.window = config.need(kWindowKeys, kPositions);
  }
  if (mix == Mix::chunked) {
    out.kind = Attention::Kind::chunked;
    out.window = config.need({"attention_chunk_size"}, kPositions);
  }
}

void read_biases(const Config& config, Mix mix, Attention& out) {
  const Family& family = config.family();
  const bool keyed = config.flag({"attention_bias"}, false) || config.flag({"use_qkv_bias"}, false);
  out.qkv_bias = keyed || family.has(kQkvBias) || (family.has(kAllBias) && config.flag({"use_bias"}, true));
  out.o_bias = (keyed && !family.has(kKeyBiasQkv)) || (family.has(kAllBias) && config.flag({"use_bias"}, true)) ||
               config.flag({"attention_out_bias"}, false);
  out.qk_norm = family.has(kQkNorm) || (family.has(kKeyQkNorm) && config.flag({"use_qk_norm"}, false));
  out.qk_norm_wide = family.has(kQkNormWide);
  out.sinks = family.has(kSinks);
  if (mix == Mix::sliding) out.sinks = config.flag({"add_swa_attention_sink_bias"}, out.sinks);
  if (mix == Mix::full) out.sinks = config.flag({"add_full_attention_sink_bias"}, out.sinks);
  out.output_gate = config.flag({"attn_output_gate", "mla_use_output_gate"}, family.has(kOutputGate));
  out.head_gate = config.flag({"use_head_wise_attn_gate"}, false);
}

// A layer computes its own index, or reuses the one of a layer before (GLM-5.2). A list of words says so per layer, or a
// string of letters, or a period. Source: vllm models/deepseek_v32/attention.py, skip_topk.
bool owns_index(const Config& config, int layer) {
  const std::vector<std::string> words = config.words({"indexer_types"});
  if (static_cast<std::size_t>(layer) < words.size()) return words[static_cast<std::size_t>(layer)] == "full";
  const std::string letters = config.word({"index_topk_pattern"}, "");
  if (static_cast<std::size_t>(layer) < letters.size()) return letters[static_cast<std::size_t>(layer)] != 'S';
  const std::int64_t every = config.get({"index_topk_freq"}, 1, {1, kLayers.hi});
  const std::int64_t offset = config.get({"index_skip_topk_offset"}, 2, kSmall);
  return std::max<std::int64_t>(layer - offset + 1, 0) % every == 0;
}

std::optional<Indexer> read_indexer(const Config& config, int layer) {
  Indexer out;
  if (config.has({"index_topk"})) {
    out.heads = config.need({"index_n_heads"}, kHeads);
    out.head_dim = config.need({"index_head_dim"}, kWidth);
    out.top_k = config.need({"index_topk"}, kPositions);
    out.pool = static_cast<int>(config.get({"index_kpool"}, 1, {1, 1024}));
    out.owns_cache = owns_index(config, layer);
    return out;
  }
  if (config.has({"indexer_budget"})) {
    out.heads = config.need({"indexer_n_heads"}, kHeads);
    out.head_dim = config.need({"indexer_head_dim"}, kWidth);
    out.top_k = config.need({"indexer_budget"}, kPositions);
    out.kv_heads = config.get({"indexer_kv_heads"}, 1, kHeads);
    out.pool = static_cast<int>(config.get({"indexer_compress_ratio"}, 1, {1, 1024}));
    return out;
  }
  if (config.has({"sparse_attention_config.sparse_index_dim"}) &&
      config.of_layer({"sparse_attention_config.sparse_attention_freq"}, layer, 1, {0, 1}) != 0) {
    out.heads = config.need({"sparse_attention_config.sparse_num_index_heads"}, kHeads);
    out.head_dim = config.need({"sparse_attention_config.sparse_index_dim"}, kWidth);
    out.block_size = config.need({"sparse_attention_config.sparse_block_size"}, kPositions);
    out.top_k = config.need({"sparse_attention_config.sparse_topk_blocks"}, kPositions) * out.block_size;
    return out;
  }
  return std::nullopt;
}

void read_latent(const Config& config, int layer, Attention& out) {
  out.kind = Attention::Kind::mla;
  out.q_lora_rank = config.get({"q_lora_rank"}, 0, kWidthOrNone);
  out.qk_rope_head_dim = config.need({"qk_rope_head_dim"}, kWidthOrNone);
  if (config.has({"compress_ratios"})) {
    // DeepSeek-V4: one latent of head_dim is key and value at once; the last `window` tokens stay uncompressed.
    out.kv_lora_rank = out.head_dim - out.qk_rope_head_dim;
    out.qk_nope_head_dim = out.kv_lora_rank;
    out.window = config.need(kWindowKeys, kPositions);
    out.compress_ratio = static_cast<int>(config.of_layer({"compress_ratios"}, layer, 0, {0, 4096}));
    out.o_lora_rank = config.need({"o_lora_rank"}, kWidth);
    out.o_groups = config.need({"o_groups"}, kHeads);
    out.k_is_v = true;
    if (out.compress_ratio == 4) out.indexer = read_indexer(config, layer);
    return;
  }
  out.kv_lora_rank = config.need({"kv_lora_rank"}, kWidth);
  out.qk_nope_head_dim = config.need({"qk_nope_head_dim"}, kWidth);
  out.head_dim = out.qk_nope_head_dim + out.qk_rope_head_dim;
  out.head_dim_v = config.need({"v_head_dim"}, kWidth);
  out.kv_heads = out.heads;
  out.indexer = read_indexer(config, layer);
}

}  // namespace

Attention read_attention(const Config& config, Mix mix, int layer) {
  Attention out;
  read_heads(config, mix, layer, out);
  read_biases(config, mix, out);
  if (config.get({"kv_lora_rank"}, 0, kWidthOrNone) > 0 || config.has({"compress_ratios"})) {
    read_latent(config, layer, out);
    return out;
  }
  if (out.heads % out.kv_heads != 0) {
    config.text().fail(format("{} query heads do not divide into {} key-value heads", out.heads, out.kv_heads));
  }
  read_window(config, mix, out);
  out.indexer = read_indexer(config, layer);
  return out;
}

void share_caches(const Config& config, const std::vector<Slot>& slots, std::vector<Layer>& layers) {
  const std::int64_t total = static_cast<std::int64_t>(layers.size());
  const std::int64_t shared = config.get({"num_kv_shared_layers"}, 0, {0, kLayers.hi});
  const std::int64_t factor = config.flag({"use_cla"}, false) ? config.get({"cla_share_factor"}, 1, {1, 64}) : 1;
  if (shared >= total) config.text().fail(format("num_kv_shared_layers is {}, but there are only {} layers", shared, total));
  for (std::int64_t i = 0; i < total; ++i) {
    std::optional<Attention>& attention = layers[static_cast<std::size_t>(i)].attention;
    if (!attention) continue;
    if (factor > 1 && i % factor != 0) attention->kv_from_layer = static_cast<int>(i - i % factor);
    if (i < total - shared) continue;
    for (std::int64_t owner = total - shared - 1; owner >= 0 && attention->kv_from_layer < 0; --owner) {
      const Mix mix = slots[static_cast<std::size_t>(owner)].mix;
      if (mix == slots[static_cast<std::size_t>(i)].mix) attention->kv_from_layer = static_cast<int>(owner);
    }
  }
}

}  // namespace kvfit::models
