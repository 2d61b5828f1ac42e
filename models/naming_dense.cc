// Families with dense feed-forward layers (and their vision variants, whose towers are in naming_vision.cc).
//
// Source: transformers, src/transformers/models/<model_type>/modeling_<model_type>.py; Qwen-1 and Falcon: their own
// modelling files on the Hub. Indexes in tests/data/models confirm the spelling.
#include <span>
#include <string_view>

#include "models/naming.h"
#include "models/naming_common.h"

namespace kvfit::models {
namespace {

constexpr std::string_view kLlamaTypes[] = {
    "llama",    "mistral",           "ministral3", "qwen2",    "qwen3", "smollm3",  "granite",   "gemma",
    "mimo",     "qwen2_vl",          "qwen2_5_vl", "seed_oss", "arcee", "ernie4_5", "internlm3", "qwen3_vl_text",
    "stablelm", "qwen2_5_omni_text", "nemotron",   "minicpm"};

constexpr std::string_view kNasTypes[] = {"nemotron-nas"};
constexpr Row kNasNorms[] = {
    {As::plain, "input_layernorm.weight", {Dim::hidden}, When::attention},
    {As::plain, "post_attention_layernorm.weight", {Dim::hidden}, When::feed_forward},
};

constexpr std::string_view kSandwichTypes[] = {"gemma2", "gemma3_text"};
constexpr Row kSandwichNorms[] = {
    {As::plain, "input_layernorm.weight", {Dim::hidden}},
    {As::plain, "post_attention_layernorm.weight", {Dim::hidden}},
    {As::plain, "post_feedforward_layernorm.weight", {Dim::hidden}},
    {As::plain, "pre_feedforward_layernorm.weight", {Dim::hidden}},
};

constexpr std::string_view kPostNormTypes[] = {"olmo2", "olmo3", "exaone4"};
constexpr Row kPostNorms[] = {
    {As::plain, "post_attention_layernorm.weight", {Dim::hidden}},
    {As::plain, "post_feedforward_layernorm.weight", {Dim::hidden}},
};

constexpr std::string_view kCohereTypes[] = {"cohere", "cohere2"};
constexpr Row kOneNorm[] = {
    {As::plain, "input_layernorm.weight", {Dim::hidden}},
};

constexpr std::string_view kPhiTypes[] = {"phi3"};
constexpr Row kPackedAttention[] = {
    {As::linear, "self_attn.qkv_proj", {Dim::qkv, Dim::hidden}},
    {As::linear, "self_attn.o_proj", {Dim::hidden, Dim::o}},
};
constexpr Row kPackedMlp[] = {
    {As::linear, "mlp.gate_up_proj", {Dim::inter2, Dim::hidden}},
    {As::linear, "mlp.down_proj", {Dim::hidden, Dim::inter}},
};

// GLM-4-9B: Llama's norms, gate and up in one matrix.
constexpr std::string_view kGlm9Types[] = {"glm"};

// Phi-1.5 and Phi-2: attention and feed-forward side by side behind one norm.
constexpr std::string_view kPhi2Types[] = {"phi"};
constexpr Row kPhi2Root[] = {
    {As::narrow, "embed_tokens", {Dim::vocab, Dim::hidden}},
    {As::plain, "final_layernorm.weight", {Dim::hidden}},
    {As::plain, "final_layernorm.bias", {Dim::hidden}},
};
constexpr Row kPhi2Norms[] = {
    {As::plain, "input_layernorm.weight", {Dim::hidden}},
    {As::plain, "input_layernorm.bias", {Dim::hidden}},
};
constexpr Row kPhi2Attention[] = {
    {As::linear, "self_attn.q_proj", {Dim::q, Dim::hidden}},
    {As::linear, "self_attn.k_proj", {Dim::k_all, Dim::hidden}},
    {As::linear, "self_attn.v_proj", {Dim::v_all, Dim::hidden}},
    {As::linear, "self_attn.dense", {Dim::hidden, Dim::o}},
    {As::plain, "self_attn.q_proj.bias", {Dim::q}},
    {As::plain, "self_attn.k_proj.bias", {Dim::k_all}},
    {As::plain, "self_attn.v_proj.bias", {Dim::v_all}},
    {As::plain, "self_attn.dense.bias", {Dim::hidden}},
};
constexpr Row kPhi2Mlp[] = {
    {As::linear, "mlp.fc1", {Dim::inter, Dim::hidden}},
    {As::linear, "mlp.fc2", {Dim::hidden, Dim::inter}},
    {As::plain, "mlp.fc1.bias", {Dim::inter}},
    {As::plain, "mlp.fc2.bias", {Dim::hidden}},
};

constexpr std::string_view kStarcoderTypes[] = {"starcoder2"};
constexpr Row kStarcoderMlp[] = {
    {As::linear, "mlp.c_fc", {Dim::inter, Dim::hidden}},
    {As::linear, "mlp.c_proj", {Dim::hidden, Dim::inter}},
    {As::plain, "mlp.c_fc.bias", {Dim::inter}, When::mlp_bias},
    {As::plain, "mlp.c_proj.bias", {Dim::hidden}, When::mlp_bias},
};

// GLM-4 (dense): norms around both blocks under names of its own, gate and up in one matrix.
constexpr std::string_view kGlmTypes[] = {"glm4", "glm4v_text"};
constexpr Row kGlmNorms[] = {
    {As::plain, "input_layernorm.weight", {Dim::hidden}},
    {As::plain, "post_attention_layernorm.weight", {Dim::hidden}},
    {As::plain, "post_mlp_layernorm.weight", {Dim::hidden}},
    {As::plain, "post_self_attn_layernorm.weight", {Dim::hidden}},
};

constexpr std::string_view kInternTypes[] = {"internlm2"};
constexpr Row kInternRoot[] = {
    {As::narrow, "tok_embeddings", {Dim::vocab, Dim::hidden}},
    {As::plain, "norm.weight", {Dim::hidden}},
};
constexpr Row kInternNorms[] = {
    {As::plain, "attention_norm.weight", {Dim::hidden}},
    {As::plain, "ffn_norm.weight", {Dim::hidden}},
};
constexpr Row kInternAttention[] = {
    {As::linear, "attention.wqkv", {Dim::qkv, Dim::hidden}},
    {As::linear, "attention.wo", {Dim::hidden, Dim::o}},
};
constexpr Row kInternMlp[] = {
    {As::linear, "feed_forward.w1", {Dim::inter, Dim::hidden}},
    {As::linear, "feed_forward.w3", {Dim::inter, Dim::hidden}},
    {As::linear, "feed_forward.w2", {Dim::hidden, Dim::inter}},
};

constexpr std::string_view kQwenTypes[] = {"qwen"};
constexpr Row kQwenRoot[] = {
    {As::plain, "wte.weight", {Dim::vocab, Dim::hidden}},
    {As::plain, "ln_f.weight", {Dim::hidden}},
};
constexpr Row kQwenNorms[] = {
    {As::plain, "ln_1.weight", {Dim::hidden}},
    {As::plain, "ln_2.weight", {Dim::hidden}},
};
constexpr Row kQwenAttention[] = {
    {As::linear, "attn.c_attn", {Dim::qkv, Dim::hidden}},
    {As::plain, "attn.c_attn.bias", {Dim::qkv}},
    {As::linear, "attn.c_proj", {Dim::hidden, Dim::o}},
};
constexpr Row kQwenMlp[] = {
    {As::linear, "mlp.w1", {Dim::inter, Dim::hidden}},
    {As::linear, "mlp.w2", {Dim::inter, Dim::hidden}},
    {As::linear, "mlp.c_proj", {Dim::hidden, Dim::inter}},
};

constexpr std::string_view kFalconTypes[] = {"falcon"};
constexpr Row kFalconRoot[] = {
    {As::plain, "word_embeddings.weight", {Dim::vocab, Dim::hidden}},
    {As::plain, "ln_f.weight", {Dim::hidden}},
    {As::plain, "ln_f.bias", {Dim::hidden}},
};
constexpr Row kFalconNorms[] = {
    {As::plain, "ln_attn.weight", {Dim::hidden}},
    {As::plain, "ln_attn.bias", {Dim::hidden}},
    {As::plain, "ln_mlp.weight", {Dim::hidden}},
    {As::plain, "ln_mlp.bias", {Dim::hidden}},
};
constexpr Row kFalconAttention[] = {
    {As::linear, "self_attention.query_key_value", {Dim::qkv, Dim::hidden}},
    {As::linear, "self_attention.dense", {Dim::hidden, Dim::o}},
};
constexpr Row kFalconMlp[] = {
    {As::linear, "mlp.dense_h_to_4h", {Dim::inter, Dim::hidden}},
    {As::linear, "mlp.dense_4h_to_h", {Dim::hidden, Dim::inter}},
};

// Gemma-4: a scalar a layer, and where experts run beside the dense part, norms before and after each of the two.
constexpr std::string_view kGemma4Types[] = {"gemma4_text", "gemma4_unified_text"};
constexpr Row kGemma4Root[] = {
    {As::narrow, "embed_tokens", {Dim::vocab, Dim::hidden}},
    {As::plain, "norm.weight", {Dim::hidden}},
    {As::narrow, "embed_tokens_per_layer", {Dim::per_layer_vocab, Dim::per_layer_all}, When::per_layer_table},
    {As::plain, "per_layer_model_projection.weight", {Dim::per_layer_all, Dim::hidden}, When::per_layer},
    {As::plain, "per_layer_projection_norm.weight", {Dim::per_layer}, When::per_layer},
};
constexpr Row kGemma4Norms[] = {
    {As::plain, "input_layernorm.weight", {Dim::hidden}},
    {As::plain, "post_attention_layernorm.weight", {Dim::hidden}},
    {As::plain, "post_feedforward_layernorm.weight", {Dim::hidden}},
    {As::plain, "pre_feedforward_layernorm.weight", {Dim::hidden}},
    {As::plain, "post_feedforward_layernorm_1.weight", {Dim::hidden}, When::moe},
    {As::plain, "post_feedforward_layernorm_2.weight", {Dim::hidden}, When::moe},
    {As::plain, "pre_feedforward_layernorm_2.weight", {Dim::hidden}, When::moe},
    {As::plain, "layer_scalar", {Dim::one}},
    {As::linear, "per_layer_input_gate", {Dim::per_layer, Dim::hidden}, When::per_layer},
    {As::linear, "per_layer_projection", {Dim::hidden, Dim::per_layer}, When::per_layer},
    {As::plain, "post_per_layer_input_norm.weight", {Dim::hidden}, When::per_layer},
};
// Gemma-3n: the same inputs a layer; AltUp and LAuReL are Layer's and Model's extra parameters.
constexpr std::string_view kGemma3nTypes[] = {"gemma3n_text"};
constexpr Row kGemma3nNorms[] = {
    {As::plain, "input_layernorm.weight", {Dim::hidden}},
    {As::plain, "post_attention_layernorm.weight", {Dim::hidden}},
    {As::plain, "post_feedforward_layernorm.weight", {Dim::hidden}},
    {As::plain, "pre_feedforward_layernorm.weight", {Dim::hidden}},
    {As::linear, "per_layer_input_gate", {Dim::per_layer, Dim::hidden}, When::per_layer},
    {As::linear, "per_layer_projection", {Dim::hidden, Dim::per_layer}, When::per_layer},
    {As::plain, "post_per_layer_input_norm.weight", {Dim::hidden}, When::per_layer},
};
constexpr Row kGemma4Moe[] = {
    {As::narrow, "router.proj", {Dim::experts, Dim::hidden}},
    {As::plain, "router.scale", {Dim::hidden}},
    {As::plain, "router.per_expert_scale", {Dim::experts}},
    {As::expert, "experts.{}.gate_proj", {Dim::moe_inter, Dim::hidden}, When::split},
    {As::expert, "experts.{}.up_proj", {Dim::moe_inter, Dim::hidden}, When::split},
    {As::expert, "experts.{}.down_proj", {Dim::hidden, Dim::moe_inter}, When::split},
    {As::stacked, "experts.gate_up_proj", {Dim::experts, Dim::moe_inter2, Dim::hidden}, When::fused},
    {As::stacked, "experts.down_proj", {Dim::experts, Dim::hidden, Dim::moe_inter}, When::fused},
};

// Apertus: Llama's attention, an ungated feed-forward whose activation has two trained numbers (and two stored constants).
constexpr std::string_view kApertusTypes[] = {"apertus"};
constexpr Row kApertusNorms[] = {
    {As::plain, "attention_layernorm.weight", {Dim::hidden}},
    {As::plain, "feedforward_layernorm.weight", {Dim::hidden}},
};
constexpr Row kApertusMlp[] = {
    {As::linear, "mlp.up_proj", {Dim::inter, Dim::hidden}},
    {As::linear, "mlp.down_proj", {Dim::hidden, Dim::inter}},
    {As::plain, "mlp.act_fn.alpha_n", {Dim::one}},
    {As::plain, "mlp.act_fn.alpha_p", {Dim::one}},
    {As::plain, "mlp.act_fn.beta", {Dim::one}},
    {As::plain, "mlp.act_fn.eps", {Dim::one}},
};

// EXAONE 3 and 3.5: Llama under GPT-2's names.
constexpr std::string_view kExaoneTypes[] = {"exaone"};
constexpr Row kExaoneAttention[] = {
    {As::linear, "attn.attention.q_proj", {Dim::q, Dim::hidden}},
    {As::linear, "attn.attention.k_proj", {Dim::k_all, Dim::hidden}},
    {As::linear, "attn.attention.v_proj", {Dim::v_all, Dim::hidden}},
    {As::linear, "attn.attention.out_proj", {Dim::hidden, Dim::o}},
};
constexpr Row kExaoneMlp[] = {
    {As::linear, "mlp.c_fc_0", {Dim::inter, Dim::hidden}},
    {As::linear, "mlp.c_fc_1", {Dim::inter, Dim::hidden}},
    {As::linear, "mlp.c_proj", {Dim::hidden, Dim::inter}},
};

// GLM-4-9B as its own modelling file has it.
constexpr std::string_view kChatGlmTypes[] = {"chatglm"};
constexpr Row kChatGlmRoot[] = {
    {As::narrow, "embedding.word_embeddings", {Dim::vocab, Dim::hidden}},
    {As::plain, "encoder.final_layernorm.weight", {Dim::hidden}},
};
constexpr Row kChatGlmAttention[] = {
    {As::linear, "self_attention.query_key_value", {Dim::qkv, Dim::hidden}},
    {As::linear, "self_attention.dense", {Dim::hidden, Dim::o}},
    {As::plain, "self_attention.query_key_value.bias", {Dim::qkv}, When::qkv_bias},
};
constexpr Row kChatGlmMlp[] = {
    {As::linear, "mlp.dense_h_to_4h", {Dim::inter2, Dim::hidden}},
    {As::linear, "mlp.dense_4h_to_h", {Dim::hidden, Dim::inter}},
};

constexpr std::string_view kBaichuanTypes[] = {"baichuan"};
constexpr Row kBaichuanAttention[] = {
    {As::linear, "self_attn.W_pack", {Dim::qkv, Dim::hidden}},
    {As::linear, "self_attn.o_proj", {Dim::hidden, Dim::o}},
};

constexpr Naming kNamings[] = {
    {.model_types = kApertusTypes, .root = kRoot, .norms = kApertusNorms, .attention = kAttention, .dense = kApertusMlp},
    {.model_types = kExaoneTypes,
     .root = kQwenRoot,
     .norms = kQwenNorms,
     .attention = kExaoneAttention,
     .dense = kExaoneMlp,
     .prefix = "transformer.",
     .layers = "h"},
    {.model_types = kChatGlmTypes,
     .root = kChatGlmRoot,
     .norms = kNorms,
     .attention = kChatGlmAttention,
     .dense = kChatGlmMlp,
     .prefix = "transformer.",
     .layers = "encoder.layers",
     .head = "transformer.output_layer"},
    {.model_types = kBaichuanTypes, .root = kRoot, .norms = kNorms, .attention = kBaichuanAttention, .dense = kMlp},
    {.model_types = kLlamaTypes,
     .root = kRoot,
     .norms = kNorms,
     .attention = kAttention,
     .dense = kMlp,
     .block_scale = profiles::DType::bf16},
    {.model_types = kNasTypes, .root = kRoot, .norms = kNasNorms, .attention = kAttention, .dense = kMlp},
    {.model_types = kSandwichTypes, .root = kRoot, .norms = kSandwichNorms, .attention = kAttention, .dense = kMlp},
    {.model_types = kGemma4Types,
     .root = kGemma4Root,
     .norms = kGemma4Norms,
     .attention = kAttention,
     .dense = kMlp,
     .moe = kGemma4Moe},
    {.model_types = kGemma3nTypes, .root = kGemma4Root, .norms = kGemma3nNorms, .attention = kAttention, .dense = kMlp},
    {.model_types = kPostNormTypes, .root = kRoot, .norms = kPostNorms, .attention = kAttention, .dense = kMlp},
    {.model_types = kCohereTypes, .root = kRoot, .norms = kOneNorm, .attention = kAttention, .dense = kMlp},
    {.model_types = kPhiTypes, .root = kRoot, .norms = kNorms, .attention = kPackedAttention, .dense = kPackedMlp},
    {.model_types = kGlm9Types, .root = kRoot, .norms = kNorms, .attention = kAttention, .dense = kPackedMlp},
    {.model_types = kPhi2Types, .root = kPhi2Root, .norms = kPhi2Norms, .attention = kPhi2Attention, .dense = kPhi2Mlp},
    {.model_types = kStarcoderTypes, .root = kRoot, .norms = kNorms, .attention = kAttention, .dense = kStarcoderMlp},
    {.model_types = kGlmTypes, .root = kRoot, .norms = kGlmNorms, .attention = kAttention, .dense = kPackedMlp},
    {.model_types = kInternTypes,
     .root = kInternRoot,
     .norms = kInternNorms,
     .attention = kInternAttention,
     .dense = kInternMlp,
     .head = "output"},
    {.model_types = kQwenTypes,
     .root = kQwenRoot,
     .norms = kQwenNorms,
     .attention = kQwenAttention,
     .dense = kQwenMlp,
     .prefix = "transformer.",
     .layers = "h"},
    {.model_types = kFalconTypes,
     .root = kFalconRoot,
     .norms = kFalconNorms,
     .attention = kFalconAttention,
     .dense = kFalconMlp,
     .prefix = "transformer.",
     .layers = "h"},
};

}  // namespace

std::span<const Naming> dense_namings() { return kNamings; }

}  // namespace kvfit::models
