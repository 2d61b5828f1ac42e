#include "models/spec_layers.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/config.h"
#include "models/layer.h"
#include "profiles/document.h"
#include "profiles/dtype.h"
#include "profiles/suggest.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::Fields;
using profiles::format;
using profiles::join;
using profiles::Node;

template <typename Kind>
Kind read_kind(const Node& node, std::span<const std::string> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == node.string()) return static_cast<Kind>(i);
  }
  const std::string near = profiles::did_you_mean(node.string(), words);
  node.fail(format("unknown kind '{}'", node.string()),
            format("{}known: {}", near.empty() ? "" : near + " ", join(words, ", ")));
}

Indexer read_indexer(const Node& node) {
  Fields fields(node);
  Indexer out;
  out.heads = spec_need(fields, "heads", kHeads);
  out.head_dim = spec_need(fields, "head_dim", kWidth);
  out.top_k = spec_need(fields, "top_k", kPositions);
  out.owns_cache = fields.boolean("owns_cache", true);
  out.pool = static_cast<int>(spec_get(fields, "pool", 1, {1, 1024}));
  out.kv_heads = spec_get(fields, "kv_heads", 1, kHeads);
  out.block_size = spec_get(fields, "block_size", 0, kPositionsOrNone);
  fields.finish();
  return out;
}

void read_latent(Fields& fields, Attention& out) {
  out.q_lora_rank = spec_get(fields, "q_lora_rank", 0, kWidthOrNone);
  out.kv_lora_rank = spec_need(fields, "kv_lora_rank", kWidth);
  out.qk_nope_head_dim = spec_need(fields, "qk_nope_head_dim", kWidth);
  out.qk_rope_head_dim = spec_need(fields, "qk_rope_head_dim", kWidthOrNone);
  out.head_dim = out.qk_nope_head_dim + out.qk_rope_head_dim;
  out.head_dim_v = spec_need(fields, "head_dim_v", kWidth);
  out.kv_heads = out.heads;
}

Attention read_attention(const Node& node) {
  static const std::vector<std::string> kWords = {"full", "sliding", "chunked", "mla"};
  Fields fields(node);
  Attention out;
  if (const Node* kind = fields.find("kind")) out.kind = read_kind<Attention::Kind>(*kind, kWords);
  out.heads = spec_need(fields, "heads", kHeads);
  if (out.kind == Attention::Kind::mla) {
    read_latent(fields, out);
  } else {
    out.kv_heads = spec_get(fields, "kv_heads", out.heads, kHeads);
    out.head_dim = spec_need(fields, "head_dim", kWidth);
    out.head_dim_v = spec_get(fields, "head_dim_v", out.head_dim, kWidth);
    if (out.heads % out.kv_heads != 0) node.fail(format("{} heads do not divide into {} kv_heads", out.heads, out.kv_heads));
  }
  const bool bounded = out.kind == Attention::Kind::sliding || out.kind == Attention::Kind::chunked;
  if (bounded) out.window = spec_need(fields, "window", kPositions);
  out.output_gate = fields.boolean("output_gate", false);
  out.qkv_bias = fields.boolean("qkv_bias", false);
  out.o_bias = fields.boolean("o_bias", false);
  out.qk_norm_wide = fields.boolean("qk_norm_wide", false);
  out.qk_norm = fields.boolean("qk_norm", out.qk_norm_wide);
  out.sinks = fields.boolean("sinks", false);
  out.k_is_v = fields.boolean("k_is_v", false);
  out.kv_from_layer = static_cast<int>(spec_get(fields, "kv_from_layer", -1, {-1, kLayers.hi}));
  if (const Node* indexer = fields.find("indexer")) out.indexer = read_indexer(*indexer);
  fields.finish();
  return out;
}

Recurrent read_recurrent(const Node& node) {
  static const std::vector<std::string> kWords = {"gated_delta_net", "kimi_delta", "mamba1",
                                                  "mamba2",          "lightning",  "short_conv"};
  Fields fields(node);
  Recurrent out;
  out.kind = read_kind<Recurrent::Kind>(fields.at("kind"), kWords);
  out.k_heads = spec_get(fields, "k_heads", 0, {0, kHeads.hi});
  out.v_heads = spec_get(fields, "v_heads", 0, {0, kHeads.hi});
  out.k_dim = spec_get(fields, "k_dim", 0, kWidthOrNone);
  out.v_dim = spec_get(fields, "v_dim", 0, kWidthOrNone);
  out.inner = spec_get(fields, "inner", 0, kWidthOrNone);
  out.conv_kernel = spec_get(fields, "conv_kernel", 0, {0, 64});
  out.chunk = spec_get(fields, "chunk", 0, {0, 1 << 16});
  out.dt_rank = spec_get(fields, "dt_rank", 0, kWidthOrNone);
  out.conv_bias = fields.boolean("conv_bias", false);
  out.proj_bias = fields.boolean("proj_bias", false);
  if (const Node* dtype = fields.find("state_dtype")) {
    out.state_dtype = profiles::dtype_from_torch(dtype->string());
    if (!out.state_dtype) dtype->fail(format("unknown dtype '{}'", dtype->string()), "for example: float32, bfloat16");
  }
  fields.finish();
  return out;
}

DenseFeedForward read_dense(const Node& node) {
  Fields fields(node);
  DenseFeedForward out;
  out.intermediate = spec_need(fields, "intermediate", kWidth);
  out.gated = fields.boolean("gated", true);
  out.bias = fields.boolean("bias", false);
  fields.finish();
  return out;
}

Moe read_moe(const Node& node) {
  Fields fields(node);
  Moe out;
  out.experts = spec_need(fields, "experts", {1, kExperts.hi});
  out.top_k = spec_need(fields, "top_k", {1, out.experts});
  out.intermediate = spec_need(fields, "intermediate", kWidth);
  out.gated = fields.boolean("gated", true);
  out.shared_intermediate = spec_get(fields, "shared_intermediate", 0, kWidthOrNone);
  out.shared_gate = fields.boolean("shared_gate", false);
  out.groups = spec_get(fields, "groups", 1, {1, kExperts.hi});
  out.top_groups = spec_get(fields, "top_groups", 1, {1, kExperts.hi});
  out.score_correction_bias = fields.boolean("score_correction_bias", false);
  out.router_bias = fields.boolean("router_bias", false);
  out.expert_bias = fields.boolean("expert_bias", false);
  out.latent = spec_get(fields, "latent", 0, kWidthOrNone);
  out.fused_storage = fields.boolean("fused_storage", false);
  fields.finish();
  return out;
}

Layer read_layer(Fields& fields, const Node& node) {
  Layer out;
  if (const Node* part = fields.find("attention")) out.attention = read_attention(*part);
  if (const Node* part = fields.find("recurrent")) out.recurrent = read_recurrent(*part);
  if (const Node* part = fields.find("dense")) out.dense = read_dense(*part);
  if (const Node* part = fields.find("moe")) out.moe = read_moe(*part);
  if (!out.attention && !out.recurrent && !out.dense && !out.moe) {
    node.fail("a layer needs at least one of attention, recurrent, dense, moe");
  }
  out.norms = static_cast<int>(spec_get(fields, "norms", 2, {0, 16}));
  out.extra_parameters = spec_get(fields, "extra_parameters", 0, {0, std::int64_t{1} << 40});
  return out;
}

void append(const Node& list, int depth, std::vector<Layer>& out) {
  if (depth > 4) list.fail("groups of layers are nested too deep");
  for (const Node& item : list.list()) {
    Fields fields(item);
    const std::int64_t repeat = spec_get(fields, "repeat", 1, kLayers);
    std::vector<Layer> group;
    if (const Node* inner = fields.find("layers")) {
      append(*inner, depth + 1, group);
    } else {
      group.push_back(read_layer(fields, item));
    }
    fields.finish();
    if (out.size() + group.size() * static_cast<std::size_t>(repeat) > static_cast<std::size_t>(kLayers.hi)) {
      item.fail(format("more than {} layers", kLayers.hi));
    }
    for (std::int64_t i = 0; i < repeat; ++i) out.insert(out.end(), group.begin(), group.end());
  }
}

}  // namespace

std::int64_t spec_need(Fields& fields, std::string_view key, Range range) {
  return fields.at(key).integer(range.lo, range.hi);
}

std::int64_t spec_get(Fields& fields, std::string_view key, std::int64_t fallback, Range range) {
  const Node* node = fields.find(key);
  return node ? node->integer(range.lo, range.hi) : fallback;
}

std::vector<Layer> read_spec_layers(const Node& list) {
  std::vector<Layer> out;
  append(list, 0, out);
  if (out.empty()) list.fail("a model needs at least one layer");
  return out;
}

}  // namespace kvfit::models
