// A model described by hand, for an architecture whose config.json kvfit cannot read: YAML in the words of model.h and
// layer.h. Strict: an unknown key, a missing one or a number out of range is an error with its place.
//
//   family: qwen3_moe            # model_type whose tensor names and engine rules it shares
//   dtype: bfloat16              # of weights that are not quantised
//   hidden: 2048
//   vocab: 151936
//   max_position: 40960
//   tied_embeddings: false
//   layers:                      # in order; `repeat` repeats one layer, or a group given under `layers`
//     - repeat: 12
//       layers:
//         - {repeat: 3, attention: {kind: sliding, window: 4096, heads: 32, kv_heads: 4, head_dim: 128}, dense:
//         {intermediate: 6144}}
//         - {attention: {heads: 32, kv_heads: 4, head_dim: 128, qk_norm: true}, moe: {experts: 128, top_k: 8, intermediate:
//         768}}
//   ropes: [{rows: 40960, dim: 128}]
//   draft: {method: mtp, prefix: "mtp.", layers: [...]}           # optional
//   vision: {parameters: 446571248, max_item_tokens: 16384}       # optional
//   quantization: {quant_method: fp8, weight_block_size: [128, 128]}   # optional, as in a config.json
//
// attention: kind full | sliding | chunked | mla, heads, kv_heads, head_dim, head_dim_v, window, output_gate, qkv_bias,
// o_bias,
//   qk_norm, qk_norm_wide, sinks, k_is_v, kv_from_layer, q_lora_rank, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim,
//   indexer {heads, head_dim, top_k, owns_cache}
// recurrent: kind gated_delta_net | kimi_delta | mamba1 | mamba2 | lightning | short_conv, k_heads, v_heads, k_dim, v_dim,
//   inner, conv_kernel, chunk, dt_rank, conv_bias, proj_bias, state_dtype
// dense: intermediate, gated, bias
// moe: experts, top_k, intermediate, gated, shared_intermediate, shared_gate, groups, top_groups, score_correction_bias,
//   router_bias, expert_bias, latent, fused_storage
#pragma once

#include <string>

#include "models/model.h"
#include "profiles/document.h"

namespace kvfit::models {

Model read_spec(const profiles::Node& spec, std::string id);

}  // namespace kvfit::models
