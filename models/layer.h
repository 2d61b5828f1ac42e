// One layer of a model: how it mixes tokens (attention, a recurrent state, or both) and how it feeds forward (dense,
// experts, or both). All widths are the whole model's, before any sharding.
#pragma once

#include <cstdint>
#include <optional>

#include "profiles/dtype.h"

namespace kvfit::models {

/// Extra index cache beside sparse MLA (DeepSeek-V3.2, GLM-5).
struct Indexer {
  std::int64_t heads = 0, head_dim = 0, top_k = 0;
  bool owns_cache = true;       ///< GLM-5.2: only some layers keep an index cache (and the indexer's weights)
  int pool = 1;                 ///< tokens one index entry covers (GLM-5.3-Flash pools 4)
  std::int64_t kv_heads = 1;    ///< index keys a token
  std::int64_t block_size = 0;  ///< block-sparse attention picks whole blocks of this many tokens; 0 = single tokens
};

struct Attention {
  enum class Kind { full, sliding, chunked, mla };
  Kind kind = Kind::full;
  std::int64_t heads = 0;  ///< query heads, whole model
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;    ///< of Q and K
  std::int64_t head_dim_v = 0;  ///< of V; equals head_dim unless stated
  std::int64_t window = 0;      ///< sliding: tokens seen; chunked: chunk length
  bool output_gate = false;     ///< q_proj yields query and gate (Qwen3-Next and later)
  bool head_gate = false;       ///< a projection hidden -> heads gates each head (Step-3.5)
  bool qkv_bias = false, o_bias = false, qk_norm = false, sinks = false;
  bool qk_norm_wide = false;  ///< with qk_norm: one vector over all heads (OLMo-2, MiniMax-M2), not one per head
  bool k_is_v = false;        ///< no v_proj is stored (Gemma-4 full layers); K and V are still both cached
  int kv_from_layer = -1;     ///< shares the cache of that layer and owns none (Gemma-3n); -1 = its own
  // MLA
  std::int64_t q_lora_rank = 0, kv_lora_rank = 0, qk_nope_head_dim = 0, qk_rope_head_dim = 0;
  std::optional<Indexer> indexer;
  std::int64_t o_lora_rank = 0, o_groups = 0;  ///< DeepSeek-V4: grouped two-step output projection; 0 = one matrix
  int compress_ratio = 0;                      ///< DeepSeek-V4: tokens an entry covers (4, 128); 0 = not compressed
};

/// A layer that carries a state of fixed size instead of a cache that grows.
struct Recurrent {
  enum class Kind { gated_delta_net, kimi_delta, mamba1, mamba2, lightning, short_conv };
  Kind kind = Kind::gated_delta_net;
  std::int64_t k_heads = 0, v_heads = 0;  ///< Mamba2: v_heads = heads, k_heads = groups
  std::int64_t k_dim = 0, v_dim = 0;      ///< Mamba2: k_dim = state size, v_dim = head dim
  std::int64_t inner = 0;                 ///< Mamba1/2 inner width; short_conv: hidden
  std::int64_t conv_kernel = 0;
  std::int64_t chunk = 0;    ///< Mamba chunk size
  std::int64_t dt_rank = 0;  ///< Mamba1
  bool conv_bias = false, proj_bias = false;
  std::optional<profiles::DType> state_dtype;  ///< mamba_ssm_dtype of the config; nullopt = the model's dtype
};

struct DenseFeedForward {
  std::int64_t intermediate = 0;
  bool gated = true;  ///< gate and up projections; false: one up projection
  bool bias = false;
};

struct Moe {
  std::int64_t experts = 0, top_k = 0, intermediate = 0;
  bool gated = true;
  std::int64_t shared_intermediate = 0;  ///< 0 = no shared expert
  bool shared_gate = false;
  std::int64_t groups = 1, top_groups = 1;
  bool score_correction_bias = false;
  bool router_bias = false, expert_bias = false;
  std::int64_t latent = 0;     ///< experts work in this width instead of hidden (Nemotron-3 latent MoE); 0 = hidden
  bool fused_storage = false;  ///< checkpoint stores all experts of a projection in one 3-D tensor
};

struct Layer {
  std::optional<Attention> attention;
  std::optional<Recurrent> recurrent;  ///< Falcon-H1 has both in one layer
  std::optional<DenseFeedForward> dense;
  std::optional<Moe> moe;             ///< some models run dense and MoE side by side (Gemma-4 26B)
  int norms = 2;                      ///< hidden-sized norm vectors
  std::int64_t extra_parameters = 0;  ///< of this layer, named by no other field (hyper-connections, AltUp), unquantised
};

}  // namespace kvfit::models
