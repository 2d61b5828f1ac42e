// Rows that many families share. Hugging Face's Llama names are the common ground: most later families rename a block or
// add a row.
#pragma once

#include "models/naming.h"

namespace kvfit::models {

inline constexpr Row kRoot[] = {
    {As::narrow, "embed_tokens", {Dim::vocab, Dim::hidden}},
    {As::plain, "norm.weight", {Dim::hidden}},
    {As::plain, "norm.bias", {Dim::hidden}, When::norm_bias},
};

inline constexpr Row kNorms[] = {
    {As::plain, "input_layernorm.weight", {Dim::hidden}},
    {As::plain, "input_layernorm.bias", {Dim::hidden}, When::norm_bias},
    {As::plain, "post_attention_layernorm.weight", {Dim::hidden}},
    {As::plain, "post_attention_layernorm.bias", {Dim::hidden}, When::norm_bias},
};

/// Grouped-query attention with every option the Llama line grew: biases, query and key norms, sinks. Layers that share
/// another layer's cache (Gemma-3n, Gemma-4 E) store keys and values all the same.
inline constexpr Row kAttention[] = {
    {As::linear, "self_attn.q_proj", {Dim::q, Dim::hidden}},
    {As::linear, "self_attn.k_proj", {Dim::k_all, Dim::hidden}},
    {As::linear, "self_attn.v_proj", {Dim::v_all, Dim::hidden}, When::own_v},
    {As::linear, "self_attn.o_proj", {Dim::hidden, Dim::o}},
    {As::plain, "self_attn.q_proj.bias", {Dim::q}, When::qkv_bias},
    {As::plain, "self_attn.k_proj.bias", {Dim::k_all}, When::qkv_bias},
    {As::plain, "self_attn.v_proj.bias", {Dim::v_all}, When::qkv_bias},
    {As::plain, "self_attn.o_proj.bias", {Dim::hidden}, When::o_bias},
    {As::plain, "self_attn.q_norm.weight", {Dim::q_norm}, When::qk_norm},
    {As::plain, "self_attn.k_norm.weight", {Dim::k_norm}, When::qk_norm},
    {As::plain, "self_attn.sinks", {Dim::heads}, When::sinks},
};

/// Multi-head latent attention (DeepSeek-V2 and later), with the sparse indexer of V3.2 and GLM-5.
inline constexpr Row kLatentAttention[] = {
    {As::linear, "self_attn.q_a_proj", {Dim::q_lora, Dim::hidden}, When::q_lora},
    {As::plain, "self_attn.q_a_layernorm.weight", {Dim::q_lora}, When::q_lora},
    {As::linear, "self_attn.q_b_proj", {Dim::q_b, Dim::q_lora}, When::q_lora},
    {As::linear, "self_attn.q_proj", {Dim::q_b, Dim::hidden}, When::no_q_lora},
    {As::linear, "self_attn.kv_a_proj_with_mqa", {Dim::kv_a, Dim::hidden}},
    {As::plain, "self_attn.kv_a_layernorm.weight", {Dim::kv_lora}},
    {As::linear, "self_attn.kv_b_proj", {Dim::kv_b, Dim::kv_lora}},
    {As::linear, "self_attn.o_proj", {Dim::hidden, Dim::o}},
    {As::linear, "self_attn.indexer.wq_b", {Dim::index_q, Dim::q_lora}, When::indexer},
    {As::linear, "self_attn.indexer.wk", {Dim::index_k, Dim::hidden}, When::indexer},
    {As::plain, "self_attn.indexer.k_norm.weight", {Dim::index_dim}, When::indexer},
    {As::plain, "self_attn.indexer.k_norm.bias", {Dim::index_dim}, When::indexer},
    {As::narrow, "self_attn.indexer.weights_proj", {Dim::index_heads, Dim::hidden}, When::indexer},
};

inline constexpr Row kMlp[] = {
    {As::linear, "mlp.gate_proj", {Dim::inter, Dim::hidden}, When::gated},
    {As::linear, "mlp.up_proj", {Dim::inter, Dim::hidden}},
    {As::linear, "mlp.down_proj", {Dim::hidden, Dim::inter}},
    {As::plain, "mlp.gate_proj.bias", {Dim::inter}, When::gated_bias},
    {As::plain, "mlp.up_proj.bias", {Dim::inter}, When::mlp_bias},
    {As::plain, "mlp.down_proj.bias", {Dim::hidden}, When::mlp_bias},
};

/// Routed experts under "mlp", stored one by one or stacked ([experts, out, in]), with a shared expert (Qwen) beside them.
inline constexpr Row kQwenMoe[] = {
    {As::narrow, "mlp.gate", {Dim::experts, Dim::hidden}},
    {As::expert, "mlp.experts.{}.gate_proj", {Dim::moe_inter, Dim::hidden}, When::split},
    {As::expert, "mlp.experts.{}.up_proj", {Dim::moe_inter, Dim::hidden}, When::split},
    {As::expert, "mlp.experts.{}.down_proj", {Dim::hidden, Dim::moe_inter}, When::split},
    {As::stacked, "mlp.experts.gate_up_proj", {Dim::experts, Dim::moe_inter2, Dim::hidden}, When::fused},
    {As::stacked, "mlp.experts.down_proj", {Dim::experts, Dim::hidden, Dim::moe_inter}, When::fused},
    {As::linear, "mlp.shared_expert.gate_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "mlp.shared_expert.up_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "mlp.shared_expert.down_proj", {Dim::hidden, Dim::shared}, When::shared},
    {As::narrow, "mlp.shared_expert_gate", {Dim::one, Dim::hidden}, When::shared_gate},
};

/// The same as DeepSeek, GLM and Kimi write it: shared_experts, and a correction bias beside the router.
inline constexpr Row kDeepseekMoe[] = {
    {As::narrow, "mlp.gate", {Dim::experts, Dim::hidden}},
    {As::f32, "mlp.gate.e_score_correction_bias", {Dim::experts}, When::correction_bias},
    {As::expert, "mlp.experts.{}.gate_proj", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "mlp.experts.{}.up_proj", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "mlp.experts.{}.down_proj", {Dim::hidden, Dim::moe_inter}},
    {As::linear, "mlp.shared_experts.gate_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "mlp.shared_experts.up_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "mlp.shared_experts.down_proj", {Dim::hidden, Dim::shared}, When::shared},
};

/// What a DeepSeek-style draft layer (the layer after the last) holds besides a layer's own tensors.
inline constexpr Row kDeepseekDraft[] = {
    {As::plain, "embed_tokens.weight", {Dim::vocab, Dim::hidden}, When::own_embedding},
    {As::plain, "enorm.weight", {Dim::hidden}},
    {As::plain, "hnorm.weight", {Dim::hidden}},
    {As::plain, "eh_proj.weight", {Dim::hidden, Dim::hidden2}},
    {As::plain, "shared_head.norm.weight", {Dim::hidden}},
    {As::plain, "shared_head.head.weight", {Dim::vocab, Dim::hidden}, When::own_head},
};

/// Qwen's: a small trunk of its own under "mtp.".
inline constexpr Row kQwenDraft[] = {
    {As::narrow, "fc", {Dim::hidden, Dim::hidden2}},
    {As::plain, "embed_tokens.weight", {Dim::vocab, Dim::hidden}, When::own_embedding},
    {As::plain, "norm.weight", {Dim::hidden}},
    {As::plain, "pre_fc_norm_embedding.weight", {Dim::hidden}},
    {As::plain, "pre_fc_norm_hidden.weight", {Dim::hidden}},
};

}  // namespace kvfit::models
