// Families with routed experts and grouped-query attention.
//
// Source: transformers, src/transformers/models/<model_type>/modeling_<model_type>.py, or the checkpoint's own modelling
// file; vllm/model_executor/models/<family>.py for the names its loader expects.
#include <span>
#include <string_view>

#include "models/naming.h"
#include "models/naming_common.h"

namespace kvfit::models {
namespace {

constexpr std::string_view kQwenMoeTypes[] = {"qwen3_moe", "qwen2_moe", "olmoe", "qwen3_omni_moe_text"};

// Qwen3-VL-MoE stacks its experts transposed: [experts, in, out].
constexpr std::string_view kQwenVlMoeTypes[] = {"qwen3_vl_moe_text", "qwen3_vl_moe"};
constexpr Row kQwenVlMoe[] = {
    {As::narrow, "mlp.gate", {Dim::experts, Dim::hidden}},
    {As::expert, "mlp.experts.{}.gate_proj", {Dim::moe_inter, Dim::hidden}, When::split},
    {As::expert, "mlp.experts.{}.up_proj", {Dim::moe_inter, Dim::hidden}, When::split},
    {As::expert, "mlp.experts.{}.down_proj", {Dim::hidden, Dim::moe_inter}, When::split},
    {As::stacked, "mlp.experts.gate_up_proj", {Dim::experts, Dim::hidden, Dim::moe_inter2}, When::fused},
    {As::stacked, "mlp.experts.down_proj", {Dim::experts, Dim::moe_inter, Dim::hidden}, When::fused},
};

constexpr std::string_view kMixtralTypes[] = {"mixtral", "phimoe"};
constexpr Row kMixtralMoe[] = {
    {As::narrow, "block_sparse_moe.gate", {Dim::experts, Dim::hidden}},
    {As::expert, "block_sparse_moe.experts.{}.w1", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "block_sparse_moe.experts.{}.w3", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "block_sparse_moe.experts.{}.w2", {Dim::hidden, Dim::moe_inter}},
    {As::f32, "block_sparse_moe.e_score_correction_bias", {Dim::experts}, When::correction_bias},
};
constexpr std::string_view kMinimaxTypes[] = {"minimax_m2"};

constexpr std::string_view kGptOssTypes[] = {"gpt_oss"};
constexpr Row kGptOssMoe[] = {
    {As::narrow, "mlp.router", {Dim::experts, Dim::hidden}},
    {As::plain, "mlp.router.bias", {Dim::experts}, When::router_bias},
    {As::stacked, "mlp.experts.gate_up_proj", {Dim::experts, Dim::moe_inter2, Dim::hidden}},
    {As::stacked, "mlp.experts.down_proj", {Dim::experts, Dim::hidden, Dim::moe_inter}},
    {As::plain, "mlp.experts.gate_up_proj_bias", {Dim::experts, Dim::moe_inter2}, When::expert_bias},
    {As::plain, "mlp.experts.down_proj_bias", {Dim::experts, Dim::hidden}, When::expert_bias},
};

constexpr std::string_view kGlmTypes[] = {"glm4_moe", "glm4v_moe_text", "dots1", "deepseek"};

constexpr std::string_view kMimoTypes[] = {"mimo_v2_flash"};
constexpr Row kMimoAttention[] = {
    {As::linear, "self_attn.q_proj", {Dim::q, Dim::hidden}},
    {As::linear, "self_attn.k_proj", {Dim::k_all, Dim::hidden}},
    {As::linear, "self_attn.v_proj", {Dim::v_all, Dim::hidden}},
    {As::linear, "self_attn.o_proj", {Dim::hidden, Dim::o}},
    {As::plain, "self_attn.attention_sink_bias", {Dim::heads}, When::sinks},
};

// Step-3.5: a gate a head, experts stacked in three tensors, the shared expert directly under the layer.
constexpr std::string_view kStepTypes[] = {"step3p5", "step3p7"};
constexpr Row kStepAttention[] = {
    {As::linear, "self_attn.q_proj", {Dim::q, Dim::hidden}},
    {As::linear, "self_attn.k_proj", {Dim::k_all, Dim::hidden}},
    {As::linear, "self_attn.v_proj", {Dim::v_all, Dim::hidden}},
    {As::linear, "self_attn.o_proj", {Dim::hidden, Dim::o}},
    {As::linear, "self_attn.g_proj", {Dim::heads, Dim::hidden}, When::head_gate},
    {As::plain, "self_attn.q_norm.weight", {Dim::q_norm}, When::qk_norm},
    {As::plain, "self_attn.k_norm.weight", {Dim::k_norm}, When::qk_norm},
};
constexpr Row kStepMoe[] = {
    {As::narrow, "moe.gate", {Dim::experts, Dim::hidden}},
    {As::f32, "moe.router_bias", {Dim::experts}, When::correction_bias},
    {As::pile, "moe.gate_proj", {Dim::experts, Dim::moe_inter, Dim::hidden}},
    {As::pile, "moe.up_proj", {Dim::experts, Dim::moe_inter, Dim::hidden}},
    {As::pile, "moe.down_proj", {Dim::experts, Dim::hidden, Dim::moe_inter}},
    {As::linear, "share_expert.gate_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "share_expert.up_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "share_expert.down_proj", {Dim::hidden, Dim::shared}, When::shared},
};

// MiniMax-M3's checkpoint names are not published: MiniMax-M2's, with DeepSeek's for what M2 lacks.
constexpr std::string_view kMinimax3Types[] = {"minimax_m3"};
constexpr Row kMinimax3Attention[] = {
    {As::linear, "self_attn.q_proj", {Dim::q, Dim::hidden}},
    {As::linear, "self_attn.k_proj", {Dim::k_all, Dim::hidden}},
    {As::linear, "self_attn.v_proj", {Dim::v_all, Dim::hidden}},
    {As::linear, "self_attn.o_proj", {Dim::hidden, Dim::o}},
    {As::plain, "self_attn.q_norm.weight", {Dim::q_norm}, When::qk_norm},
    {As::plain, "self_attn.k_norm.weight", {Dim::k_norm}, When::qk_norm},
    {As::linear, "self_attn.indexer.q_proj", {Dim::index_q, Dim::hidden}, When::indexer},
    {As::linear, "self_attn.indexer.k_proj", {Dim::index_k, Dim::hidden}, When::indexer},
};
constexpr Row kMinimax3Moe[] = {
    {As::narrow, "block_sparse_moe.gate", {Dim::experts, Dim::hidden}},
    {As::f32, "block_sparse_moe.e_score_correction_bias", {Dim::experts}, When::correction_bias},
    {As::expert, "block_sparse_moe.experts.{}.w1", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "block_sparse_moe.experts.{}.w3", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "block_sparse_moe.experts.{}.w2", {Dim::hidden, Dim::moe_inter}},
    {As::linear, "block_sparse_moe.shared_experts.gate_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "block_sparse_moe.shared_experts.up_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "block_sparse_moe.shared_experts.down_proj", {Dim::hidden, Dim::shared}, When::shared},
};

constexpr std::string_view kErnieTypes[] = {"ernie4_5_moe"};
constexpr Row kErnieMoe[] = {
    {As::f32, "mlp.gate.weight", {Dim::experts, Dim::hidden}},
    {As::f32, "mlp.moe_statics.e_score_correction_bias", {Dim::one, Dim::experts}, When::correction_bias},
    {As::expert, "mlp.experts.{}.gate_proj", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "mlp.experts.{}.up_proj", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "mlp.experts.{}.down_proj", {Dim::hidden, Dim::moe_inter}},
    {As::linear, "mlp.shared_experts.gate_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "mlp.shared_experts.up_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "mlp.shared_experts.down_proj", {Dim::hidden, Dim::shared}, When::shared},
};

// Ling (Bailing): query, key and value in one matrix. Source: inclusionAI's modeling_bailing_moe.py and _v2.py.
constexpr std::string_view kBailingTypes[] = {"bailing_moe", "bailing_moe_v2"};
constexpr Row kBailingRoot[] = {
    {As::narrow, "word_embeddings", {Dim::vocab, Dim::hidden}},
    {As::plain, "norm.weight", {Dim::hidden}},
};
constexpr Row kBailingAttention[] = {
    {As::linear, "attention.query_key_value", {Dim::qkv, Dim::hidden}},
    {As::linear, "attention.dense", {Dim::hidden, Dim::o}},
    {As::plain, "attention.query_key_value.bias", {Dim::qkv}, When::qkv_bias},
    {As::plain, "attention.query_layernorm.weight", {Dim::q_norm}, When::qk_norm},
    {As::plain, "attention.key_layernorm.weight", {Dim::k_norm}, When::qk_norm},
};
constexpr Row kBailingMoe[] = {
    {As::narrow, "mlp.gate", {Dim::experts, Dim::hidden}},
    {As::plain, "mlp.gate.expert_bias", {Dim::experts}, When::correction_bias},
    {As::expert, "mlp.experts.{}.gate_proj", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "mlp.experts.{}.up_proj", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "mlp.experts.{}.down_proj", {Dim::hidden, Dim::moe_inter}},
    {As::linear, "mlp.shared_experts.gate_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "mlp.shared_experts.up_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "mlp.shared_experts.down_proj", {Dim::hidden, Dim::shared}, When::shared},
};

constexpr std::string_view kHunyuanTypes[] = {"hunyuan", "hunyuan_v1_moe", "hunyuan_v1_dense"};
constexpr Row kHunyuanAttention[] = {
    {As::linear, "self_attn.q_proj", {Dim::q, Dim::hidden}},
    {As::linear, "self_attn.k_proj", {Dim::k_all, Dim::hidden}},
    {As::linear, "self_attn.v_proj", {Dim::v_all, Dim::hidden}},
    {As::linear, "self_attn.o_proj", {Dim::hidden, Dim::o}},
    {As::plain, "self_attn.query_layernorm.weight", {Dim::q_norm}, When::qk_norm},
    {As::plain, "self_attn.key_layernorm.weight", {Dim::k_norm}, When::qk_norm},
};
constexpr Row kHunyuanMoe[] = {
    {As::f32, "mlp.gate.wg.weight", {Dim::experts, Dim::hidden}},
    {As::expert, "mlp.experts.{}.gate_proj", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "mlp.experts.{}.up_proj", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "mlp.experts.{}.down_proj", {Dim::hidden, Dim::moe_inter}},
    {As::linear, "mlp.shared_mlp.gate_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "mlp.shared_mlp.up_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "mlp.shared_mlp.down_proj", {Dim::hidden, Dim::shared}, When::shared},
};

// Llama-4 stacks its experts transposed; quantised exports split them.
constexpr std::string_view kLlama4Types[] = {"llama4_text", "llama4"};
constexpr Row kLlama4Dense[] = {
    {As::linear, "feed_forward.gate_proj", {Dim::inter, Dim::hidden}},
    {As::linear, "feed_forward.up_proj", {Dim::inter, Dim::hidden}},
    {As::linear, "feed_forward.down_proj", {Dim::hidden, Dim::inter}},
};
constexpr Row kLlama4Moe[] = {
    {As::narrow, "feed_forward.router", {Dim::experts, Dim::hidden}},
    {As::expert, "feed_forward.experts.{}.gate_proj", {Dim::moe_inter, Dim::hidden}, When::split},
    {As::expert, "feed_forward.experts.{}.up_proj", {Dim::moe_inter, Dim::hidden}, When::split},
    {As::expert, "feed_forward.experts.{}.down_proj", {Dim::hidden, Dim::moe_inter}, When::split},
    {As::stacked, "feed_forward.experts.gate_up_proj", {Dim::experts, Dim::hidden, Dim::moe_inter2}, When::fused},
    {As::stacked, "feed_forward.experts.down_proj", {Dim::experts, Dim::moe_inter, Dim::hidden}, When::fused},
    {As::linear, "feed_forward.shared_expert.gate_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "feed_forward.shared_expert.up_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "feed_forward.shared_expert.down_proj", {Dim::hidden, Dim::shared}, When::shared},
};

constexpr std::string_view kGraniteMoeTypes[] = {"granitemoe", "granitemoeshared"};
constexpr Row kGraniteMoe[] = {
    {As::narrow, "block_sparse_moe.router.layer", {Dim::experts, Dim::hidden}},
    {As::pile, "block_sparse_moe.input_linear", {Dim::experts, Dim::moe_inter2, Dim::hidden}},
    {As::pile, "block_sparse_moe.output_linear", {Dim::experts, Dim::hidden, Dim::moe_inter}},
    {As::linear, "shared_mlp.input_linear", {Dim::shared2, Dim::hidden}, When::shared},
    {As::linear, "shared_mlp.output_linear", {Dim::hidden, Dim::shared}, When::shared},
};

constexpr std::string_view kDbrxTypes[] = {"dbrx"};
constexpr Row kDbrxRoot[] = {
    {As::plain, "wte.weight", {Dim::vocab, Dim::hidden}},
    {As::plain, "norm_f.weight", {Dim::hidden}},
};
constexpr Row kDbrxNorms[] = {
    {As::plain, "norm_attn_norm.norm_1.weight", {Dim::hidden}},
    {As::plain, "norm_attn_norm.norm_2.weight", {Dim::hidden}},
};
constexpr Row kDbrxAttention[] = {
    {As::linear, "norm_attn_norm.attn.Wqkv", {Dim::qkv, Dim::hidden}},
    {As::linear, "norm_attn_norm.attn.out_proj", {Dim::hidden, Dim::o}},
};
constexpr Row kDbrxMoe[] = {
    {As::narrow, "ffn.router.layer", {Dim::experts, Dim::hidden}},
    {As::plain, "ffn.experts.mlp.w1", {Dim::moe_flat, Dim::hidden}, When::fused},
    {As::plain, "ffn.experts.mlp.v1", {Dim::moe_flat, Dim::hidden}, When::fused},
    {As::plain, "ffn.experts.mlp.w2", {Dim::moe_flat, Dim::hidden}, When::fused},
    {As::expert, "ffn.experts.mlp.{}.w1", {Dim::moe_inter, Dim::hidden}, When::split},
    {As::expert, "ffn.experts.mlp.{}.v1", {Dim::moe_inter, Dim::hidden}, When::split},
    {As::expert, "ffn.experts.mlp.{}.w2", {Dim::hidden, Dim::moe_inter}, When::split},
};

constexpr Naming kNamings[] = {
    {.model_types = kQwenMoeTypes,
     .root = kRoot,
     .norms = kNorms,
     .attention = kAttention,
     .dense = kMlp,
     .moe = kQwenMoe,
     .block_scale = profiles::DType::bf16},
    {.model_types = kQwenVlMoeTypes,
     .root = kRoot,
     .norms = kNorms,
     .attention = kAttention,
     .dense = kMlp,
     .moe = kQwenVlMoe,
     .block_scale = profiles::DType::bf16},
    {.model_types = kMixtralTypes, .root = kRoot, .norms = kNorms, .attention = kAttention, .moe = kMixtralMoe},
    {.model_types = kMinimaxTypes, .root = kRoot, .norms = kNorms, .attention = kAttention, .moe = kMixtralMoe},
    {.model_types = kGptOssTypes, .root = kRoot, .norms = kNorms, .attention = kAttention, .moe = kGptOssMoe},
    {.model_types = kGlmTypes,
     .root = kRoot,
     .norms = kNorms,
     .attention = kAttention,
     .dense = kMlp,
     .moe = kDeepseekMoe,
     .draft = kDeepseekDraft},
    {.model_types = kMimoTypes,
     .root = kRoot,
     .norms = kNorms,
     .attention = kMimoAttention,
     .dense = kMlp,
     .moe = kDeepseekMoe},
    {.model_types = kStepTypes,
     .root = kRoot,
     .norms = kNorms,
     .attention = kStepAttention,
     .dense = kMlp,
     .moe = kStepMoe,
     .draft = kDeepseekDraft},
    {.model_types = kMinimax3Types,
     .root = kRoot,
     .norms = kNorms,
     .attention = kMinimax3Attention,
     .dense = kMlp,
     .moe = kMinimax3Moe},
    {.model_types = kErnieTypes, .root = kRoot, .norms = kNorms, .attention = kAttention, .dense = kMlp, .moe = kErnieMoe},
    {.model_types = kBailingTypes,
     .root = kBailingRoot,
     .norms = kNorms,
     .attention = kBailingAttention,
     .dense = kMlp,
     .moe = kBailingMoe},
    {.model_types = kHunyuanTypes,
     .root = kRoot,
     .norms = kNorms,
     .attention = kHunyuanAttention,
     .dense = kMlp,
     .moe = kHunyuanMoe},
    {.model_types = kLlama4Types,
     .root = kRoot,
     .norms = kNorms,
     .attention = kAttention,
     .dense = kLlama4Dense,
     .moe = kLlama4Moe},
    {.model_types = kGraniteMoeTypes, .root = kRoot, .norms = kNorms, .attention = kAttention, .moe = kGraniteMoe},
    {.model_types = kDbrxTypes,
     .root = kDbrxRoot,
     .norms = kDbrxNorms,
     .attention = kDbrxAttention,
     .moe = kDbrxMoe,
     .prefix = "transformer.",
     .layers = "blocks"},
};

}  // namespace

std::span<const Naming> expert_namings() { return kNamings; }

}  // namespace kvfit::models
