// What a model is: layers, each with how it mixes tokens and how it feeds forward, plus draft head, vision tower and
// quantisation. Filled from a config.json (config_reader.h) or a YAML spec; holds no bytes of any checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/quantization.h"
#include "profiles/dtype.h"

namespace kvfit::models {

/// Extra index cache beside sparse MLA (DeepSeek-V3.2, GLM-5).
struct Indexer {
  std::int64_t heads = 0, head_dim = 0, top_k = 0;
  bool owns_cache = true;  ///< GLM-5.2: only some layers keep an index cache
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
  bool qkv_bias = false, o_bias = false, qk_norm = false, sinks = false;
  bool k_is_v = false;     ///< no v_proj is stored (Gemma-4 full layers); K and V are still both cached
  int kv_from_layer = -1;  ///< shares the cache of that layer and owns none (Gemma-3n); -1 = its own
  // MLA
  std::int64_t q_lora_rank = 0, kv_lora_rank = 0, qk_nope_head_dim = 0, qk_rope_head_dim = 0;
  std::optional<Indexer> indexer;
  int compress_ratio = 0;  ///< DeepSeek-V4: tokens an entry covers (4, 128); 0 = not compressed
};

/// A layer that carries a state of fixed size instead of a cache that grows.
struct Recurrent {
  enum class Kind { gated_delta_net, kimi_delta, mamba1, mamba2, lightning, short_conv };
  Kind kind = Kind::gated_delta_net;
  std::int64_t k_heads = 0, v_heads = 0;  ///< Mamba2: v_heads = heads, k_heads = groups
  std::int64_t k_dim = 0, v_dim = 0;      ///< Mamba2: k_dim = state size, v_dim = head dim
  std::int64_t inner = 0;                 ///< Mamba1/2 inner width
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
  std::optional<Moe> moe;  ///< some models run dense and MoE side by side (Gemma-4 26B)
  int norms = 2;           ///< hidden-sized norm vectors
};

struct Rope {
  std::int64_t rows = 0;  ///< rows the engine's cos/sin cache holds (after scaling, M-RoPE factor included)
  std::int64_t dim = 0;   ///< rotary dimension
  profiles::DType dtype = profiles::DType::bf16;
};

/// Draft layers stored beside the model and used with --speculative-config.
struct Draft {
  std::string method;  ///< "mtp", "eagle3", ...
  std::string prefix;  ///< tensor name prefix, e.g. "mtp." or "model.layers.61."
  std::vector<Layer> layers;
  bool own_embedding = false, own_head = false;  ///< stored again instead of shared with the target
};

struct Vision {
  std::int64_t layers = 0, hidden = 0, intermediate = 0, heads = 0, out_hidden = 0;
  std::int64_t patch = 0, temporal_patch = 1, merge = 1, channels = 3;
  std::int64_t position_rows = 0;    ///< learned position embeddings
  std::int64_t deepstack = 0;        ///< extra merger heads
  std::int64_t max_item_tokens = 0;  ///< language tokens of the largest image
  std::int64_t parameters = 0;       ///< when only the count is known
  std::string kind;                  ///< "qwen3_vl", "siglip", "pixtral", ...
};

struct Model {
  std::string id;                                 ///< catalogue id, or the directory's name
  std::string repository;                         ///< Hugging Face id where known
  std::string family;                             ///< model_type of the text model, e.g. "qwen3_5_moe_text"
  std::string architecture;                       ///< architectures[0]
  profiles::DType dtype = profiles::DType::bf16;  ///< of weights that are not quantised
  std::int64_t hidden = 0, vocab = 0, max_position = 0;
  bool tied_embeddings = false;
  std::vector<Layer> layers;
  std::vector<Rope> ropes;  ///< distinct caches the engine builds
  std::optional<Draft> draft;
  std::optional<Vision> vision;
  std::optional<std::int64_t> audio_parameters;
  Quantization quantization;
  std::string name_prefix = "model.";  ///< of the language model's tensors ("model.language_model.")
  std::vector<std::string> missing;    ///< what the config did not say and was assumed; widens error bars
};

/// Routed experts of the model (the same in every MoE layer) or 0 when dense.
std::int64_t expert_count(const Model& model);
/// The same model with `experts` routed experts in trunk and draft (a carve); throws Error when a hard rule is broken.
Model with_experts(const Model& model, std::int64_t experts);

}  // namespace kvfit::models
