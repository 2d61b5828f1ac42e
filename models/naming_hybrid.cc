// Families that mix attention with layers of fixed state: gated delta nets, Mamba, lightning attention, short convolutions.
//
// Source: transformers, src/transformers/models/<model_type>/modeling_<model_type>.py; nemotron_h and minimax_m1: the
// checkpoints' own modelling files and vllm/model_executor/models/.
#include <span>
#include <string_view>

#include "models/naming.h"
#include "models/naming_common.h"

namespace kvfit::models {
namespace {

using Kind = Recurrent::Kind;

// Qwen3-Next packs query, key, value and gate in one matrix; Qwen3.5 and later keep four.
constexpr std::string_view kQwenNextTypes[] = {"qwen3_next"};
constexpr Row kQwenNextDelta[] = {
    {As::plain, "linear_attn.A_log", {Dim::r_heads}},
    {As::plain, "linear_attn.conv1d.weight", {Dim::r_conv, Dim::one, Dim::r_kernel}},
    {As::plain, "linear_attn.dt_bias", {Dim::r_heads}},
    {As::narrow, "linear_attn.in_proj_ba", {Dim::r_ba, Dim::hidden}},
    {As::linear, "linear_attn.in_proj_qkvz", {Dim::r_qkvz, Dim::hidden}},
    {As::plain, "linear_attn.norm.weight", {Dim::r_v_dim}},
    {As::linear, "linear_attn.out_proj", {Dim::hidden, Dim::r_value}},
};
constexpr std::string_view kQwen35Types[] = {"qwen3_5_text", "qwen3_5_moe_text", "qwen4_exp_text"};
constexpr Row kQwen35Delta[] = {
    {As::plain, "linear_attn.A_log", {Dim::r_heads}},
    {As::plain, "linear_attn.conv1d.weight", {Dim::r_conv, Dim::one, Dim::r_kernel}},
    {As::plain, "linear_attn.dt_bias", {Dim::r_heads}},
    {As::narrow, "linear_attn.in_proj_a", {Dim::r_heads, Dim::hidden}},
    {As::narrow, "linear_attn.in_proj_b", {Dim::r_heads, Dim::hidden}},
    {As::linear, "linear_attn.in_proj_qkv", {Dim::r_qkv, Dim::hidden}},
    {As::linear, "linear_attn.in_proj_z", {Dim::r_value, Dim::hidden}},
    {As::plain, "linear_attn.norm.weight", {Dim::r_v_dim}},
    {As::linear, "linear_attn.out_proj", {Dim::hidden, Dim::r_value}},
};
constexpr RecurrentTable kQwenNextRecurrent[] = {{Kind::gated_delta_net, kQwenNextDelta}};
constexpr RecurrentTable kQwen35Recurrent[] = {{Kind::gated_delta_net, kQwen35Delta}};

// Nemotron-H: every layer is one mixer, whatever it mixes, behind one norm.
constexpr std::string_view kNemotronTypes[] = {"nemotron_h", "mamba2"};
constexpr Row kNemotronRoot[] = {
    {As::plain, "embeddings.weight", {Dim::vocab, Dim::hidden}},
    {As::plain, "norm_f.weight", {Dim::hidden}},
};
constexpr Row kNemotronNorms[] = {
    {As::plain, "norm.weight", {Dim::hidden}},
};
constexpr Row kNemotronAttention[] = {
    {As::linear, "mixer.q_proj", {Dim::q, Dim::hidden}},
    {As::linear, "mixer.k_proj", {Dim::k_all, Dim::hidden}},
    {As::linear, "mixer.v_proj", {Dim::v_all, Dim::hidden}},
    {As::linear, "mixer.o_proj", {Dim::hidden, Dim::o}},
};
constexpr Row kNemotronMamba[] = {
    {As::f32, "mixer.A_log", {Dim::r_heads}},
    {As::plain, "mixer.D", {Dim::r_heads}},
    {As::plain, "mixer.dt_bias", {Dim::r_heads}},
    {As::plain, "mixer.conv1d.weight", {Dim::r_conv, Dim::one, Dim::r_kernel}},
    {As::plain, "mixer.conv1d.bias", {Dim::r_conv}, When::conv_bias},
    {As::linear, "mixer.in_proj", {Dim::r_in, Dim::hidden}},
    {As::plain, "mixer.norm.weight", {Dim::r_inner}},
    {As::linear, "mixer.out_proj", {Dim::hidden, Dim::r_inner}},
};
constexpr Row kNemotronMlp[] = {
    {As::linear, "mixer.up_proj", {Dim::inter, Dim::hidden}},
    {As::linear, "mixer.down_proj", {Dim::hidden, Dim::inter}},
};
constexpr Row kNemotronMoe[] = {
    {As::narrow, "mixer.gate", {Dim::experts, Dim::hidden}},
    {As::f32, "mixer.gate.e_score_correction_bias", {Dim::experts}, When::correction_bias},
    {As::linear, "mixer.fc1_latent_proj", {Dim::latent, Dim::hidden}, When::latent},
    {As::linear, "mixer.fc2_latent_proj", {Dim::hidden, Dim::latent}, When::latent},
    {As::expert, "mixer.experts.{}.up_proj", {Dim::moe_inter, Dim::moe_in}},
    {As::expert, "mixer.experts.{}.down_proj", {Dim::moe_in, Dim::moe_inter}},
    {As::linear, "mixer.shared_experts.up_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "mixer.shared_experts.down_proj", {Dim::hidden, Dim::shared}, When::shared},
};
constexpr RecurrentTable kNemotronRecurrent[] = {{Kind::mamba2, kNemotronMamba}};

// Mamba and Falcon-Mamba.
constexpr std::string_view kMambaTypes[] = {"mamba", "falcon_mamba"};
constexpr Row kMamba[] = {
    {As::f32, "mixer.A_log", {Dim::r_inner, Dim::r_state}},
    {As::f32, "mixer.D", {Dim::r_inner}},
    {As::plain, "mixer.conv1d.weight", {Dim::r_inner, Dim::one, Dim::r_kernel}},
    {As::plain, "mixer.conv1d.bias", {Dim::r_inner}, When::conv_bias},
    {As::plain, "mixer.dt_proj.bias", {Dim::r_inner}},
    {As::linear, "mixer.dt_proj", {Dim::r_inner, Dim::r_dt}},
    {As::linear, "mixer.in_proj", {Dim::r_inner2, Dim::hidden}},
    {As::linear, "mixer.out_proj", {Dim::hidden, Dim::r_inner}},
    {As::linear, "mixer.x_proj", {Dim::r_x, Dim::r_inner}},
};
constexpr RecurrentTable kMambaRecurrent[] = {{Kind::mamba1, kMamba}};

// Bamba, Falcon-H1, Granite-4: Mamba-2 under "mamba".
constexpr Row kMamba2[] = {
    {As::plain, "mamba.A_log", {Dim::r_heads}},
    {As::plain, "mamba.D", {Dim::r_heads}},
    {As::plain, "mamba.dt_bias", {Dim::r_heads}},
    {As::plain, "mamba.conv1d.weight", {Dim::r_conv, Dim::one, Dim::r_kernel}},
    {As::plain, "mamba.conv1d.bias", {Dim::r_conv}, When::conv_bias},
    {As::linear, "mamba.in_proj", {Dim::r_in, Dim::hidden}},
    {As::plain, "mamba.norm.weight", {Dim::r_inner}},
    {As::linear, "mamba.out_proj", {Dim::hidden, Dim::r_inner}},
};
constexpr Row kFalconH1Mamba[] = {
    {As::plain, "mamba.A_log", {Dim::r_heads}},
    {As::plain, "mamba.D", {Dim::r_heads}},
    {As::plain, "mamba.dt_bias", {Dim::r_heads}},
    {As::plain, "mamba.conv1d.weight", {Dim::r_conv, Dim::one, Dim::r_kernel}},
    {As::plain, "mamba.conv1d.bias", {Dim::r_conv}, When::conv_bias},
    {As::linear, "mamba.in_proj", {Dim::r_in, Dim::hidden}},
    {As::linear, "mamba.out_proj", {Dim::hidden, Dim::r_inner}},
};
constexpr RecurrentTable kMamba2Recurrent[] = {{Kind::mamba2, kMamba2}};
constexpr RecurrentTable kFalconH1Recurrent[] = {{Kind::mamba2, kFalconH1Mamba}};

constexpr std::string_view kBambaTypes[] = {"bamba"};
constexpr std::string_view kFalconH1Types[] = {"falcon_h1"};
constexpr Row kFinalLayernormRoot[] = {
    {As::plain, "embed_tokens.weight", {Dim::vocab, Dim::hidden}},
    {As::plain, "final_layernorm.weight", {Dim::hidden}},
};
constexpr Row kPreFfNorms[] = {
    {As::plain, "input_layernorm.weight", {Dim::hidden}},
    {As::plain, "pre_ff_layernorm.weight", {Dim::hidden}},
};
constexpr Row kFeedForward[] = {
    {As::linear, "feed_forward.gate_proj", {Dim::inter, Dim::hidden}},
    {As::linear, "feed_forward.up_proj", {Dim::inter, Dim::hidden}},
    {As::linear, "feed_forward.down_proj", {Dim::hidden, Dim::inter}},
};

constexpr std::string_view kJambaTypes[] = {"jamba"};
constexpr Row kMamba1[] = {
    {As::plain, "mamba.A_log", {Dim::r_inner, Dim::r_state}},
    {As::plain, "mamba.D", {Dim::r_inner}},
    {As::plain, "mamba.b_layernorm.weight", {Dim::r_state}},
    {As::plain, "mamba.c_layernorm.weight", {Dim::r_state}},
    {As::plain, "mamba.dt_layernorm.weight", {Dim::r_dt}},
    {As::plain, "mamba.conv1d.weight", {Dim::r_inner, Dim::one, Dim::r_kernel}},
    {As::plain, "mamba.conv1d.bias", {Dim::r_inner}, When::conv_bias},
    {As::linear, "mamba.dt_proj", {Dim::r_inner, Dim::r_dt}},
    {As::plain, "mamba.dt_proj.bias", {Dim::r_inner}},
    {As::linear, "mamba.in_proj", {Dim::r_inner2, Dim::hidden}},
    {As::linear, "mamba.out_proj", {Dim::hidden, Dim::r_inner}},
    {As::linear, "mamba.x_proj", {Dim::r_x, Dim::r_inner}},
};
constexpr Row kJambaMoe[] = {
    {As::narrow, "feed_forward.router", {Dim::experts, Dim::hidden}},
    {As::expert, "feed_forward.experts.{}.gate_proj", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "feed_forward.experts.{}.up_proj", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "feed_forward.experts.{}.down_proj", {Dim::hidden, Dim::moe_inter}},
};
constexpr RecurrentTable kJambaRecurrent[] = {{Kind::mamba1, kMamba1}};

// Granite-4: the dense feed-forward and the shared expert are both "shared_mlp", gate and up in one matrix.
constexpr std::string_view kGraniteTypes[] = {"granitemoehybrid"};
constexpr Row kGraniteDense[] = {
    {As::linear, "shared_mlp.input_linear", {Dim::inter2, Dim::hidden}},
    {As::linear, "shared_mlp.output_linear", {Dim::hidden, Dim::inter}},
};
constexpr Row kGraniteMoe[] = {
    {As::narrow, "block_sparse_moe.router.layer", {Dim::experts, Dim::hidden}},
    {As::pile, "block_sparse_moe.input_linear", {Dim::experts, Dim::moe_inter2, Dim::hidden}},
    {As::pile, "block_sparse_moe.output_linear", {Dim::experts, Dim::hidden, Dim::moe_inter}},
    {As::linear, "shared_mlp.input_linear", {Dim::shared2, Dim::hidden}, When::shared},
    {As::linear, "shared_mlp.output_linear", {Dim::hidden, Dim::shared}, When::shared},
};

constexpr std::string_view kLfmTypes[] = {"lfm2_moe", "lfm2"};
constexpr Row kLfmRoot[] = {
    {As::plain, "embed_tokens.weight", {Dim::vocab, Dim::hidden}},
    {As::plain, "embedding_norm.weight", {Dim::hidden}},
};
constexpr Row kLfmNorms[] = {
    {As::plain, "ffn_norm.weight", {Dim::hidden}},
    {As::plain, "operator_norm.weight", {Dim::hidden}},
};
constexpr Row kLfmAttention[] = {
    {As::linear, "self_attn.q_proj", {Dim::q, Dim::hidden}},
    {As::linear, "self_attn.k_proj", {Dim::k_all, Dim::hidden}},
    {As::linear, "self_attn.v_proj", {Dim::v_all, Dim::hidden}},
    {As::linear, "self_attn.out_proj", {Dim::hidden, Dim::o}},
    {As::plain, "self_attn.q_layernorm.weight", {Dim::q_norm}, When::qk_norm},
    {As::plain, "self_attn.k_layernorm.weight", {Dim::k_norm}, When::qk_norm},
};
constexpr Row kLfmConv[] = {
    {As::plain, "conv.conv.weight", {Dim::r_inner, Dim::one, Dim::r_kernel}},
    {As::linear, "conv.in_proj", {Dim::r_inner3, Dim::hidden}},
    {As::linear, "conv.out_proj", {Dim::hidden, Dim::r_inner}},
};
constexpr Row kLfmDense[] = {
    {As::linear, "feed_forward.w1", {Dim::inter, Dim::hidden}},
    {As::linear, "feed_forward.w3", {Dim::inter, Dim::hidden}},
    {As::linear, "feed_forward.w2", {Dim::hidden, Dim::inter}},
};
constexpr Row kLfmMoe[] = {
    {As::narrow, "feed_forward.gate", {Dim::experts, Dim::hidden}},
    {As::f32, "feed_forward.expert_bias", {Dim::experts}, When::correction_bias},
    {As::expert, "feed_forward.experts.{}.w1", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "feed_forward.experts.{}.w3", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "feed_forward.experts.{}.w2", {Dim::hidden, Dim::moe_inter}},
};
constexpr RecurrentTable kLfmRecurrent[] = {{Kind::short_conv, kLfmConv}};

constexpr std::string_view kMinimaxTypes[] = {"minimax_m1"};
constexpr Row kLightning[] = {
    {As::plain, "self_attn.norm.weight", {Dim::r_value}},
    {As::linear, "self_attn.out_proj", {Dim::hidden, Dim::r_value}},
    {As::linear, "self_attn.output_gate", {Dim::r_value, Dim::hidden}},
    {As::linear, "self_attn.qkv_proj", {Dim::r_qkv, Dim::hidden}},
};
constexpr Row kMinimaxMoe[] = {
    {As::f32, "block_sparse_moe.gate.weight", {Dim::experts, Dim::hidden}},
    {As::expert, "block_sparse_moe.experts.{}.w1", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "block_sparse_moe.experts.{}.w3", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "block_sparse_moe.experts.{}.w2", {Dim::hidden, Dim::moe_inter}},
};
constexpr RecurrentTable kLightningRecurrent[] = {{Kind::lightning, kLightning}};

constexpr Naming kNamings[] = {
    {.model_types = kQwenNextTypes,
     .root = kRoot,
     .norms = kNorms,
     .attention = kAttention,
     .recurrent = kQwenNextRecurrent,
     .dense = kMlp,
     .moe = kQwenMoe,
     .draft = kQwenDraft,
     .block_scale = profiles::DType::bf16},
    {.model_types = kQwen35Types,
     .root = kRoot,
     .norms = kNorms,
     .attention = kAttention,
     .recurrent = kQwen35Recurrent,
     .dense = kMlp,
     .moe = kQwenMoe,
     .draft = kQwenDraft,
     .block_scale = profiles::DType::bf16},
    {.model_types = kNemotronTypes,
     .root = kNemotronRoot,
     .norms = kNemotronNorms,
     .attention = kNemotronAttention,
     .recurrent = kNemotronRecurrent,
     .dense = kNemotronMlp,
     .moe = kNemotronMoe,
     .prefix = "backbone."},
    {.model_types = kMambaTypes,
     .root = kNemotronRoot,
     .norms = kNemotronNorms,
     .recurrent = kMambaRecurrent,
     .prefix = "backbone."},
    {.model_types = kBambaTypes,
     .root = kFinalLayernormRoot,
     .norms = kPreFfNorms,
     .attention = kAttention,
     .recurrent = kMamba2Recurrent,
     .dense = kFeedForward},
    {.model_types = kFalconH1Types,
     .root = kFinalLayernormRoot,
     .norms = kPreFfNorms,
     .attention = kAttention,
     .recurrent = kFalconH1Recurrent,
     .dense = kFeedForward},
    {.model_types = kJambaTypes,
     .root = kFinalLayernormRoot,
     .norms = kPreFfNorms,
     .attention = kAttention,
     .recurrent = kJambaRecurrent,
     .dense = kFeedForward,
     .moe = kJambaMoe},
    {.model_types = kGraniteTypes,
     .root = kRoot,
     .norms = kNorms,
     .attention = kAttention,
     .recurrent = kMamba2Recurrent,
     .dense = kGraniteDense,
     .moe = kGraniteMoe},
    {.model_types = kLfmTypes,
     .root = kLfmRoot,
     .norms = kLfmNorms,
     .attention = kLfmAttention,
     .recurrent = kLfmRecurrent,
     .dense = kLfmDense,
     .moe = kLfmMoe},
    {.model_types = kMinimaxTypes,
     .root = kRoot,
     .norms = kNorms,
     .attention = kAttention,
     .recurrent = kLightningRecurrent,
     .moe = kMinimaxMoe},
};

}  // namespace

std::span<const Naming> hybrid_namings() { return kNamings; }

}  // namespace kvfit::models
