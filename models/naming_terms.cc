#include "models/naming_terms.h"

#include <cstddef>
#include <cstdint>

#include "models/model.h"
#include "profiles/units.h"

namespace kvfit::models {
namespace {

using profiles::checked_add;
using profiles::checked_mul;

class Builder {
 public:
  explicit Builder(Terms& terms) : terms_(terms) {}
  void set(Dim dim, std::int64_t extent) { terms_.extents[static_cast<std::size_t>(dim)] = extent; }
  void set(When when, bool fact) { terms_.facts[static_cast<std::size_t>(when)] = fact; }

 private:
  Terms& terms_;
};

void add_attention(const Attention& a, Builder& b) {
  const std::int64_t value_dim = a.head_dim_v > 0 ? a.head_dim_v : a.head_dim;
  const std::int64_t q_all = checked_mul(a.heads, a.head_dim);
  const std::int64_t k_all = checked_mul(a.kv_heads, a.head_dim);
  const std::int64_t v_all = checked_mul(a.kv_heads, value_dim);
  b.set(Dim::heads, a.heads);
  b.set(Dim::head_dim, a.head_dim);
  b.set(Dim::q_all, q_all);
  b.set(Dim::q, checked_mul(q_all, a.output_gate ? 2 : 1));
  b.set(Dim::k_all, k_all);
  b.set(Dim::v_all, v_all);
  b.set(Dim::o, checked_mul(a.heads, value_dim));
  b.set(Dim::qkv, checked_add(q_all, checked_add(k_all, v_all)));
  b.set(Dim::q_norm, a.qk_norm_wide ? q_all : a.head_dim);
  b.set(Dim::k_norm, a.qk_norm_wide ? k_all : a.head_dim);
  b.set(When::attention, true);
  b.set(When::qkv_bias, a.qkv_bias);
  b.set(When::o_bias, a.o_bias);
  b.set(When::qk_norm, a.qk_norm);
  b.set(When::sinks, a.sinks);
  b.set(When::head_gate, a.head_gate);
  b.set(When::own_v, !a.k_is_v);
}

void add_latent_attention(const Attention& a, Builder& b) {
  b.set(Dim::q_lora, a.q_lora_rank);
  b.set(Dim::q_b, checked_mul(a.heads, checked_add(a.qk_nope_head_dim, a.qk_rope_head_dim)));
  b.set(Dim::kv_lora, a.kv_lora_rank);
  b.set(Dim::kv_a, checked_add(a.kv_lora_rank, a.qk_rope_head_dim));
  b.set(Dim::kv_b, checked_mul(a.heads, checked_add(a.qk_nope_head_dim, a.head_dim_v)));
  b.set(Dim::o_in, a.o_groups > 0 ? checked_mul(a.heads, a.head_dim) / a.o_groups : 0);
  b.set(Dim::o_mid, checked_mul(a.o_groups, a.o_lora_rank));
  b.set(When::q_lora, a.q_lora_rank > 0);
  b.set(When::no_q_lora, a.q_lora_rank == 0);
}

void add_indexer(const Indexer& i, Builder& b) {
  b.set(Dim::index_heads, i.heads);
  b.set(Dim::index_dim, i.head_dim);
  b.set(Dim::index_q, checked_mul(i.heads, i.head_dim));
  b.set(Dim::index_k, checked_mul(i.kv_heads, i.head_dim));
  b.set(When::indexer, i.owns_cache);
}

void add_recurrent(const Recurrent& r, Builder& b) {
  using Kind = Recurrent::Kind;
  const bool mamba = r.kind == Kind::mamba1 || r.kind == Kind::mamba2;
  const std::int64_t key = checked_mul(r.k_heads, r.k_dim);
  const std::int64_t value = checked_mul(r.v_heads, r.v_dim);
  const std::int64_t qkv = checked_add(checked_mul(2, key), mamba ? r.inner : value);
  b.set(Dim::r_key, key);
  b.set(Dim::r_value, value);
  b.set(Dim::r_qkv, qkv);
  b.set(Dim::r_conv, r.kind == Kind::mamba1 || r.kind == Kind::short_conv ? r.inner : qkv);
  b.set(Dim::r_in, checked_add(checked_add(r.inner, qkv), r.v_heads));
  b.set(Dim::r_qkvz, checked_add(qkv, value));
  b.set(Dim::r_ba, checked_mul(2, r.v_heads));
  b.set(Dim::r_heads, r.v_heads);
  b.set(Dim::r_v_dim, r.v_dim);
  b.set(Dim::r_kernel, r.conv_kernel);
  b.set(Dim::r_inner, r.inner);
  b.set(Dim::r_inner2, checked_mul(2, r.inner));
  b.set(Dim::r_inner3, checked_mul(3, r.inner));
  b.set(Dim::r_state, r.k_dim);
  b.set(Dim::r_dt, r.dt_rank);
  b.set(Dim::r_x, checked_add(r.dt_rank, checked_mul(2, r.k_dim)));
  b.set(When::conv_bias, r.conv_bias);
}

void add_dense(const DenseFeedForward& d, Builder& b) {
  b.set(Dim::inter, d.intermediate);
  b.set(Dim::inter2, checked_mul(2, d.intermediate));
  b.set(When::dense, true);
  b.set(When::gated, d.gated);
  b.set(When::gated_bias, d.gated && d.bias);
  b.set(When::mlp_bias, d.bias);
}

void add_moe(const Model& model, const Moe& m, bool fused, Builder& b) {
  b.set(Dim::experts, m.experts);
  b.set(Dim::moe_in, m.latent > 0 ? m.latent : model.hidden);
  b.set(Dim::latent, m.latent);
  b.set(Dim::moe_inter, m.intermediate);
  b.set(Dim::moe_inter2, checked_mul(2, m.intermediate));
  b.set(Dim::moe_flat, checked_mul(m.experts, m.intermediate));
  b.set(Dim::shared, m.shared_intermediate);
  b.set(Dim::shared2, checked_mul(2, m.shared_intermediate));
  b.set(When::moe, true);
  b.set(When::fused, fused);
  b.set(When::expert_bias, m.expert_bias);
  b.set(When::split, !fused);
  b.set(When::router_bias, m.router_bias);
  b.set(When::correction_bias, m.score_correction_bias);
  b.set(When::shared, m.shared_intermediate > 0);
  b.set(When::shared_gate, m.shared_gate);
  b.set(When::latent, m.latent > 0);
}

}  // namespace

Terms root_terms(const Model& model) {
  Terms terms;
  Builder b(terms);
  b.set(Dim::one, 1);
  b.set(Dim::hidden, model.hidden);
  b.set(Dim::hidden2, checked_mul(2, model.hidden));
  b.set(Dim::vocab, model.vocab);
  b.set(Dim::per_layer, model.per_layer_input);
  b.set(Dim::per_layer_all, checked_mul(model.per_layer_input, static_cast<std::int64_t>(model.layers.size())));
  b.set(Dim::per_layer_vocab, model.per_layer_vocab);
  b.set(When::always, true);
  b.set(When::per_layer, model.per_layer_input > 0);
  b.set(When::per_layer_table, model.per_layer_input > 0);
  b.set(When::norm_bias, model.norm_bias);
  b.set(When::head_bias, model.head_bias);
  b.set(When::own_embedding, model.draft && model.draft->own_embedding);
  b.set(When::own_head, model.draft && model.draft->own_head);
  return terms;
}

Terms layer_terms(const Model& model, const Layer& layer, bool fused) {
  Terms terms = root_terms(model);
  Builder b(terms);
  if (layer.attention) {
    add_attention(*layer.attention, b);
    add_latent_attention(*layer.attention, b);
    if (layer.attention->indexer) add_indexer(*layer.attention->indexer, b);
  }
  if (layer.recurrent) add_recurrent(*layer.recurrent, b);
  if (layer.dense) add_dense(*layer.dense, b);
  if (layer.moe) add_moe(model, *layer.moe, fused, b);
  b.set(When::feed_forward, layer.dense.has_value() || layer.moe.has_value());
  return terms;
}

}  // namespace kvfit::models
