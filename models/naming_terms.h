// The vocabulary of the naming tables: the extents a tensor can have and the conditions under which it is stored.
// Resolved for one layer by layer_terms(); widths are the whole model's, before any sharding.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>

#include "models/model.h"

namespace kvfit::models {

// clang-format off
enum class Dim : std::uint8_t {
  none,  ///< the tensor has no such axis
  one, hidden, vocab,
  hidden2,  ///< 2 x hidden: what a draft's projection reads
  // Attention. q: rows of q_proj (twice q_all with an output gate); o: inputs of o_proj; qkv: all three in one matrix.
  heads, head_dim, q, q_all, k_all, v_all, o, qkv, q_norm, k_norm,
  // Latent attention. kv_a: latent + rope; kv_b, q_b: what the low ranks expand to.
  q_lora, q_b, kv_lora, kv_a, kv_b, index_q, index_k, index_dim, index_heads,
  o_in, o_mid,  ///< grouped output projection (DeepSeek-V4): heads of a group, and groups x its rank
  // Recurrent layers. r_conv: channels of the short convolution; r_in: rows of Mamba's in_proj; r_ba: beta and alpha.
  r_key, r_value, r_conv, r_in, r_qkv, r_qkvz, r_ba, r_heads, r_v_dim, r_kernel, r_inner, r_inner2, r_inner3, r_state, r_dt, r_x,
  // Feed-forward. moe_in: what an expert reads (hidden or the latent width); moe_flat: experts x moe_inter.
  inter, inter2, experts, moe_in, moe_inter, moe_inter2, moe_flat, shared, shared2, latent,
  // Per-layer inputs (Gemma-3n, Gemma-4 E): width, and layers x width.
  per_layer, per_layer_all, per_layer_vocab,
  count,
};

enum class When : std::uint8_t {
  always, attention, feed_forward,
  qkv_bias, o_bias, qk_norm, sinks, head_gate,
  own_v,  ///< a v_proj (not where values are the keys)
  q_lora, no_q_lora, indexer,
  conv_bias,
  dense, gated, gated_bias, mlp_bias,
  moe,
  fused, split,  ///< all experts of a projection in one tensor; one tensor an expert
  expert_bias,
  router_bias, correction_bias, shared, shared_gate, latent,
  norm_bias, head_bias, per_layer, per_layer_table, own_embedding, own_head,
  count,
};
// clang-format on

/// Both, for one layer of a model (or for what stands beside its layers).
struct Terms {
  std::array<std::int64_t, static_cast<std::size_t>(Dim::count)> extents{};
  std::bitset<static_cast<std::size_t>(When::count)> facts;

  std::int64_t operator[](Dim dim) const { return extents[static_cast<std::size_t>(dim)]; }
  bool operator[](When when) const { return facts[static_cast<std::size_t>(when)]; }
};

Terms root_terms(const Model& model);
/// `fused`: the experts of this layer are stored stacked.
Terms layer_terms(const Model& model, const Layer& layer, bool fused);

}  // namespace kvfit::models
