#include "models/family_table.h"

#include <array>
#include <span>

#include "models/family.h"
#include "models/layer.h"

namespace kvfit::models {
namespace {

using Kind = Recurrent::Kind;

// Where `defaults` is empty every memory-relevant key is required by the library, or its default is the same everywhere
// (key-value heads = heads, head_dim = hidden / heads, untied embeddings, no window). bf16: the published checkpoints are
// bfloat16 although their configs do not say so.
constexpr std::array kFamilies = {
    // Llama-like decoders.
    Family{.type = "llama"},
    Family{.type = "mistral"},
    Family{.type = "ministral3"},
    Family{.type = "arcee", .traits = kUngated},
    Family{.type = "granite"},
    Family{.type = "smollm3", .defaults = "tie_word_embeddings=1"},
    Family{.type = "seed_oss", .traits = kKeyBiasQkv, .defaults = "attention_bias=1"},
    Family{.type = "internlm2"},
    Family{.type = "internlm3"},
    Family{.type = "exaone4", .traits = kQkNorm, .defaults = "sliding_window_pattern=4"},
    Family{.type = "nemotron-nas"},
    Family{.type = "phi3"},
    Family{.type = "olmo2", .traits = kQkNorm | kQkNormWide},
    Family{.type = "olmo3", .traits = kQkNorm | kQkNormWide, .defaults = "sliding_window_pattern=4"},
    Family{.type = "cohere", .norms = 1, .defaults = "tie_word_embeddings=1"},
    Family{.type = "cohere2", .norms = 1, .defaults = "tie_word_embeddings=1 sliding_window_pattern=4 sliding_window=4096"},
    Family{.type = "starcoder2",
           .traits = kAllBias | kNormBias | kUngated,
           .defaults = "tie_word_embeddings=1 num_key_value_heads=2"},
    Family{.type = "falcon",
           .traits = kNormBias | kUngated,
           .defaults = "tie_word_embeddings=1 max_position_embeddings=2048",
           .prefix = "transformer."},
    Family{.type = "glm4", .traits = kKeyBiasQkv, .norms = 4, .defaults = "partial_rotary_factor=0.5"},
    Family{.type = "glm4v_text",
           .traits = kKeyBiasQkv | kMrope,
           .norms = 4,
           .defaults = "partial_rotary_factor=0.5",
           .prefix = "model.language_model."},
    Family{.type = "hunyuan_v1_dense", .traits = kQkNorm},
    Family{.type = "glm", .traits = kKeyBiasQkv, .defaults = "partial_rotary_factor=0.5 head_dim=128"},
    Family{.type = "phi",
           .traits = kAllBias | kNormBias | kUngated,
           .norms = 1,
           .defaults = "partial_rotary_factor=0.5 lm_head_bias=1"},
    Family{.type = "stablelm", .traits = kNormBias | kKeyBiasQkv, .defaults = "partial_rotary_factor=0.25"},
    Family{.type = "nemotron", .traits = kNormBias | kUngated, .defaults = "partial_rotary_factor=0.5"},
    Family{.type = "minicpm", .defaults = "tie_word_embeddings=1"},
    Family{.type = "ernie4_5", .defaults = "tie_word_embeddings=1"},
    Family{.type = "mimo", .traits = kQkvBias, .defaults = "use_sliding_window=0"},
    Family{.type = "apertus", .traits = kQkNorm | kUngated},
    Family{.type = "exaone", .prefix = "transformer."},
    Family{.type = "chatglm", .traits = kQkvBias, .defaults = "partial_rotary_factor=0.5", .prefix = "transformer."},
    Family{.type = "baichuan"},

    // Older decoders.
    Family{.type = "olmo", .norms = 0},
    Family{.type = "opt",
           .traits = kAllBias | kNormBias | kUngated | kNoRope,
           .defaults = "tie_word_embeddings=1 learned_positions=1 position_offset=2",
           .prefix = "model.decoder."},
    Family{.type = "gpt2",
           .traits = kAllBias | kNormBias | kUngated | kNoRope,
           .defaults = "tie_word_embeddings=1 learned_positions=1 n_positions=1024 n_embd=768 n_layer=12 n_head=12",
           .prefix = ""},
    Family{.type = "gpt_neox",
           .traits = kAllBias | kNormBias | kUngated,
           .defaults = "partial_rotary_factor=0.25",
           .prefix = "gpt_neox."},

    // Qwen.
    Family{.type = "qwen", .traits = kQkvBias, .defaults = "intermediate_divisor=2", .prefix = "transformer."},
    Family{.type = "qwen2", .traits = kQkvBias, .defaults = "use_sliding_window=0"},
    Family{.type = "qwen2_moe", .traits = kQkvBias | kSharedGate, .defaults = "use_sliding_window=0 decoder_sparse_step=1"},
    Family{.type = "qwen2_vl", .traits = kQkvBias | kMrope, .defaults = "use_sliding_window=0"},
    Family{.type = "qwen2_5_vl", .traits = kQkvBias | kMrope, .defaults = "use_sliding_window=0"},
    Family{.type = "qwen2_5_omni_text",
           .traits = kQkvBias | kMrope,
           .defaults = "use_sliding_window=0",
           .prefix = "thinker.model."},
    Family{.type = "qwen3", .traits = kQkNorm, .defaults = "use_sliding_window=0 head_dim=128"},
    Family{.type = "qwen3_moe", .traits = kQkNorm, .defaults = "use_sliding_window=0 decoder_sparse_step=1"},
    Family{
        .type = "qwen3_vl_text", .traits = kQkNorm | kMrope, .defaults = "head_dim=128", .prefix = "model.language_model."},
    Family{.type = "qwen3_vl_moe_text",
           .traits = kQkNorm | kMrope | kFusedExperts,
           .defaults = "decoder_sparse_step=1",
           .prefix = "model.language_model."},
    Family{.type = "qwen3_omni_moe_text",
           .traits = kQkNorm | kMrope,
           .defaults = "decoder_sparse_step=1",
           .prefix = "thinker.model."},
    // The published checkpoints hold one draft layer although no key of the config says so.
    Family{.type = "qwen3_next",
           .traits = kQkNorm | kOutputGate | kSharedGate | kFullDraft,
           .defaults = "full_attention_interval=4 partial_rotary_factor=0.25 head_dim=256 decoder_sparse_step=1 "
                       "num_nextn_predict_layers=1 linear_conv_kernel_dim=4 linear_key_head_dim=128 "
                       "linear_value_head_dim=128 linear_num_key_heads=16 linear_num_value_heads=32",
           .draft_prefix = "mtp."},
    Family{.type = "qwen3_5_text",
           .traits = kQkNorm | kOutputGate | kMrope | kFullDraft,
           .defaults = "full_attention_interval=4 partial_rotary_factor=0.25 head_dim=256 linear_conv_kernel_dim=4 "
                       "linear_key_head_dim=128 linear_value_head_dim=128 linear_num_key_heads=16 "
                       "linear_num_value_heads=32",
           .prefix = "model.language_model.",
           .draft_prefix = "mtp."},
    Family{.type = "qwen3_5_moe_text",
           .traits = kQkNorm | kOutputGate | kMrope | kSharedGate | kFusedExperts | kFullDraft,
           .defaults = "full_attention_interval=4 partial_rotary_factor=0.25 head_dim=256 linear_conv_kernel_dim=4 "
                       "linear_key_head_dim=128 linear_value_head_dim=128 linear_num_key_heads=16 "
                       "linear_num_value_heads=32",
           .prefix = "model.language_model.",
           .draft_prefix = "mtp."},
    Family{.type = "qwen4_exp_text",
           .traits = kQkNorm | kOutputGate | kMrope | kSharedGate | kFusedExperts | kFullDraft,
           .defaults = "full_attention_interval=4 partial_rotary_factor=0.25 linear_conv_kernel_dim=4",
           .prefix = "model.language_model.",
           .draft_prefix = "mtp."},

    // Gemma.
    Family{.type = "gemma", .defaults = "tie_word_embeddings=1 head_dim=256 vocab_size=256000"},
    Family{.type = "gemma2",
           .norms = 4,
           .defaults = "tie_word_embeddings=1 head_dim=256 vocab_size=256000 sliding_window=4096 sliding_window_pattern=2 "
                       "num_attention_heads=8 num_key_value_heads=4"},
    Family{.type = "gemma3_text",
           .traits = kQkNorm,
           .norms = 4,
           .defaults = "tie_word_embeddings=1 head_dim=256 vocab_size=262208 sliding_window=4096 sliding_window_pattern=6 "
                       "num_attention_heads=8 num_key_value_heads=4 max_position_embeddings=131072 hidden_size=2304 "
                       "intermediate_size=9216 num_hidden_layers=26 local_rope=1"},
    Family{.type = "gemma3n_text",
           .traits = kQkNorm,
           .norms = 4,
           .defaults = "tie_word_embeddings=1 head_dim=256 vocab_size=262400 sliding_window=512 sliding_window_pattern=5 "
                       "num_attention_heads=8 num_key_value_heads=2 max_position_embeddings=32768 hidden_size=2048 "
                       "intermediate_size=16384 num_hidden_layers=35 num_kv_shared_layers=15 "
                       "hidden_size_per_layer_input=256 vocab_size_per_layer_input=262144 altup_num_inputs=4 "
                       "laurel_rank=64 local_rope=1",
           .prefix = "model.language_model."},
    Family{.type = "gemma4_text",
           .traits = kQkNorm | kFusedExperts | kDenseBesideMoe,
           .norms = 4,
           .defaults = "tie_word_embeddings=1 head_dim=256 global_head_dim=512 vocab_size=262144 sliding_window=512 "
                       "sliding_window_pattern=6 max_position_embeddings=131072 num_kv_shared_layers=0 "
                       "hidden_size_per_layer_input=0 vocab_size_per_layer_input=262144",
           .prefix = "model.language_model."},

    // Mixture of experts over grouped-query attention.
    Family{.type = "mixtral"},
    Family{.type = "gpt_oss",
           .traits = kSinks | kMoeBias | kFusedExperts,
           .defaults = "attention_bias=1 head_dim=64 sliding_window=128 sliding_window_pattern=2 bf16=1"},
    Family{.type = "glm4_moe",
           .traits = kKeyBiasQkv | kKeyQkNorm | kCorrectionBias | kDraftOwnsEnds,
           .defaults = "partial_rotary_factor=0.5 first_k_dense_replace=1 n_shared_experts=1"},
    Family{.type = "glm4v_moe_text",
           .traits = kKeyBiasQkv | kKeyQkNorm | kCorrectionBias | kMrope,
           .defaults = "partial_rotary_factor=0.5 first_k_dense_replace=1 n_shared_experts=1",
           .prefix = "model.language_model."},
    Family{.type = "minimax_m2", .traits = kQkNorm | kQkNormWide | kCorrectionBias, .defaults = "bf16=1"},
    Family{.type = "minimax_m3", .traits = kQkNorm | kCorrectionBias},
    Family{.type = "minimax_m1", .defaults = "bf16=1", .recurrent = Kind::lightning},
    Family{.type = "granitemoe", .traits = kFusedExperts, .defaults = "tie_word_embeddings=0"},
    Family{.type = "granitemoeshared", .traits = kFusedExperts},
    Family{.type = "phimoe", .traits = kNormBias, .defaults = "lm_head_bias=0"},
    Family{.type = "olmoe", .traits = kQkNorm | kQkNormWide},
    Family{.type = "dbrx", .traits = kFusedExperts, .prefix = "transformer."},
    Family{.type = "ernie4_5_moe",
           .traits = kCorrectionBias,
           .defaults = "tie_word_embeddings=1 max_position_embeddings=131072"},
    Family{.type = "hunyuan", .traits = kQkNorm},
    Family{.type = "bailing_moe", .defaults = "norm_head=0"},
    Family{.type = "bailing_moe_v2", .traits = kQkNorm | kCorrectionBias},
    Family{.type = "dots1", .traits = kQkNorm | kCorrectionBias},
    Family{.type = "llama4_text",
           .traits = kFusedExperts | kSharedIsExpert,
           .defaults = "head_dim=128 attention_chunk_size=8192 no_rope_layer_interval=4 interleave_moe_layer_step=1",
           .prefix = "language_model.model."},
    Family{.type = "step3p5", .traits = kQkNorm | kCorrectionBias},
    Family{.type = "step3p7", .traits = kQkNorm | kCorrectionBias},
    Family{.type = "mimo_v2_flash", .traits = kCorrectionBias, .draft_prefix = "model.mtp."},

    Family{.type = "deepseek", .defaults = "first_k_dense_replace=0"},

    // Multi-head latent attention.
    Family{.type = "deepseek_v2", .defaults = "first_k_dense_replace=0"},
    Family{.type = "deepseek_v3", .traits = kCorrectionBias | kDraftOwnsEnds, .defaults = "first_k_dense_replace=3"},
    Family{.type = "deepseek_v32", .traits = kCorrectionBias | kDraftOwnsEnds, .defaults = "first_k_dense_replace=3"},
    Family{.type = "deepseek_v4",
           .traits = kCorrectionBias | kSinks,
           .defaults = "head_dim=512 qk_rope_head_dim=64 first_k_dense_replace=0",
           .prefix = "",
           .draft_prefix = "mtp."},
    Family{.type = "kimi_k2", .traits = kCorrectionBias | kDraftOwnsEnds, .defaults = "first_k_dense_replace=1"},
    Family{.type = "glm4_moe_lite", .traits = kCorrectionBias | kDraftOwnsEnds, .defaults = "first_k_dense_replace=1"},
    Family{.type = "glm_moe_dsa", .traits = kCorrectionBias | kDraftOwnsEnds, .defaults = "first_k_dense_replace=3"},
    Family{.type = "mistral4", .prefix = "language_model.model."},
    Family{.type = "kimi_linear", .traits = kCorrectionBias | kNoRope, .recurrent = Kind::kimi_delta},
    Family{.type = "glm5_next_text",
           .traits = kCorrectionBias | kNoRope,
           .recurrent = Kind::kimi_delta,
           .prefix = "model.language_model."},

    // Recurrent throughout. The length is bounded by nothing in the model.
    Family{.type = "mamba2",
           .traits = kOnlyRecurrent | kNoRope,
           .norms = 1,
           .defaults = "expand=2 conv_kernel=4 n_groups=8 state_size=128 chunk_size=256 max_position_embeddings~262144",
           .recurrent = Kind::mamba2,
           .prefix = "backbone."},
    Family{.type = "mamba",
           .traits = kOnlyRecurrent | kNoRope,
           .norms = 1,
           .defaults = "tie_word_embeddings=1 expand=2 conv_kernel=4 state_size=16 max_position_embeddings~262144",
           .recurrent = Kind::mamba1,
           .prefix = "backbone."},
    Family{.type = "falcon_mamba",
           .traits = kOnlyRecurrent | kNoRope,
           .norms = 1,
           .defaults = "expand=2 conv_kernel=4 state_size=16 max_position_embeddings~262144",
           .recurrent = Kind::mamba1,
           .prefix = "backbone."},

    // Recurrent hybrids.
    Family{.type = "nemotron_h",
           .traits = kUngated | kNoRope | kCorrectionBias,
           .norms = 1,
           .defaults = "mamba_proj_bias=0 use_conv_bias=1 conv_kernel=4 chunk_size=256",
           .recurrent = Kind::mamba2,
           .prefix = "backbone.",
           .draft_prefix = "mtp."},
    Family{.type = "granitemoehybrid",
           .traits = kFusedExperts,
           .defaults = "tie_word_embeddings=1 mamba_conv_bias=1 mamba_chunk_size=256 mamba_expand=2",
           .recurrent = Kind::mamba2},
    Family{.type = "bamba",
           .defaults = "mamba_conv_bias=1 mamba_chunk_size=256 mamba_expand=2 max_position_embeddings=262144",
           .recurrent = Kind::mamba2},
    Family{.type = "jamba",
           .traits = kNoRope,
           .defaults = "attn_layer_period=8 attn_layer_offset=4 expert_layer_period=2 expert_layer_offset=1 "
                       "mamba_conv_bias=1 mamba_expand=2 mamba_d_conv=4 mamba_d_state=16",
           .recurrent = Kind::mamba1},
    Family{.type = "falcon_h1",
           .traits = kParallel,
           .defaults = "mamba_conv_bias=1 mamba_chunk_size=256 mamba_expand=2 mamba_d_conv=4 mamba_n_groups=1 "
                       "vocab_size~128000 intermediate_size~14336 max_position_embeddings~8192",
           .recurrent = Kind::mamba2},
    Family{.type = "lfm2",
           .traits = kQkNorm,
           .defaults = "tie_word_embeddings=1 block_auto_adjust_ff_dim=1 block_multiple_of=256 conv_L_cache=3",
           .recurrent = Kind::short_conv},
    Family{.type = "lfm2_moe",
           .traits = kQkNorm | kCorrectionBias,
           .defaults = "tie_word_embeddings=1 conv_L_cache=3 num_dense_layers=2",
           .recurrent = Kind::short_conv},
};

}  // namespace

std::span<const Family> family_table() { return kFamilies; }

}  // namespace kvfit::models
