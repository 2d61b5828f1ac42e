// Families with multi-head latent attention: DeepSeek, Kimi, GLM-5, Mistral-4.
//
// Source: transformers, src/transformers/models/deepseek_v3/modeling_deepseek_v3.py;
// vllm/model_executor/models/deepseek_v2.py and deepseek_mtp.py (indexer and draft layer), kimi_linear.py with the
// checkpoint's modeling_kimi.py (delta attention), deepseek_v4.py. The names of glm5_next's delta attention are not
// published: Kimi's stand for them.
#include <span>
#include <string_view>

#include "models/naming.h"
#include "models/naming_common.h"

namespace kvfit::models {
namespace {

using Kind = Recurrent::Kind;

constexpr std::string_view kDeepseekTypes[] = {"deepseek_v2", "deepseek_v3", "deepseek_v32",  "kimi_k2",
                                               "kimi_k25",    "glm_moe_dsa", "glm4_moe_lite", "mistral4"};

// Kimi Delta Attention: low-rank decay and output gates, one short convolution each for query, key and value.
constexpr Row kKimiDelta[] = {
    {As::linear, "self_attn.q_proj", {Dim::r_key, Dim::hidden}},
    {As::linear, "self_attn.k_proj", {Dim::r_key, Dim::hidden}},
    {As::linear, "self_attn.v_proj", {Dim::r_value, Dim::hidden}},
    {As::plain, "self_attn.q_conv1d.weight", {Dim::r_key, Dim::one, Dim::r_kernel}},
    {As::plain, "self_attn.k_conv1d.weight", {Dim::r_key, Dim::one, Dim::r_kernel}},
    {As::plain, "self_attn.v_conv1d.weight", {Dim::r_value, Dim::one, Dim::r_kernel}},
    {As::f32, "self_attn.A_log", {Dim::r_heads}},
    {As::f32, "self_attn.dt_bias", {Dim::r_value}},
    {As::linear, "self_attn.f_a_proj", {Dim::r_v_dim, Dim::hidden}},
    {As::linear, "self_attn.f_b_proj", {Dim::r_value, Dim::r_v_dim}},
    {As::linear, "self_attn.g_a_proj", {Dim::r_v_dim, Dim::hidden}},
    {As::linear, "self_attn.g_b_proj", {Dim::r_value, Dim::r_v_dim}},
    {As::linear, "self_attn.b_proj", {Dim::r_heads, Dim::hidden}},
    {As::plain, "self_attn.o_norm.weight", {Dim::r_v_dim}},
    {As::linear, "self_attn.o_proj", {Dim::hidden, Dim::r_value}},
};
constexpr RecurrentTable kKimiRecurrent[] = {{Kind::kimi_delta, kKimiDelta}};

constexpr std::string_view kKimiLinearTypes[] = {"kimi_linear"};
constexpr Row kKimiMoe[] = {
    {As::narrow, "block_sparse_moe.gate", {Dim::experts, Dim::hidden}},
    {As::f32, "block_sparse_moe.gate.e_score_correction_bias", {Dim::experts}, When::correction_bias},
    {As::expert, "block_sparse_moe.experts.{}.w1", {Dim::moe_inter, Dim::moe_in}},
    {As::expert, "block_sparse_moe.experts.{}.w3", {Dim::moe_inter, Dim::moe_in}},
    {As::expert, "block_sparse_moe.experts.{}.w2", {Dim::moe_in, Dim::moe_inter}},
    {As::linear, "block_sparse_moe.shared_experts.gate_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "block_sparse_moe.shared_experts.up_proj", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "block_sparse_moe.shared_experts.down_proj", {Dim::hidden, Dim::shared}, When::shared},
};

constexpr std::string_view kGlmNextTypes[] = {"glm5_next_text"};

// DeepSeek-V4 keeps the names of its reference implementation. Compressors and hyper-connections are Layer's and Model's
// extra parameters.
constexpr std::string_view kDeepseek4Types[] = {"deepseek_v4", "deepseek_ref"};
constexpr Row kDeepseek4Root[] = {
    {As::plain, "embed.weight", {Dim::vocab, Dim::hidden}},
    {As::plain, "norm.weight", {Dim::hidden}},
};
constexpr Row kDeepseek4Norms[] = {
    {As::plain, "attn_norm.weight", {Dim::hidden}},
    {As::plain, "ffn_norm.weight", {Dim::hidden}},
};
constexpr Row kDeepseek4Attention[] = {
    {As::f32, "attn.attn_sink", {Dim::heads}, When::sinks},
    {As::linear, "attn.wq_a", {Dim::q_lora, Dim::hidden}, When::q_lora},
    {As::plain, "attn.q_norm.weight", {Dim::q_lora}, When::q_lora},
    {As::linear, "attn.wq_b", {Dim::q_all, Dim::q_lora}, When::q_lora},
    {As::linear, "attn.wkv", {Dim::k_all, Dim::hidden}},
    {As::plain, "attn.kv_norm.weight", {Dim::k_all}},
    {As::linear, "attn.wo_a", {Dim::o_mid, Dim::o_in}},
    {As::linear, "attn.wo_b", {Dim::hidden, Dim::o_mid}},
    {As::linear, "attn.indexer.wq_b", {Dim::index_q, Dim::q_lora}, When::indexer},
    {As::narrow, "attn.indexer.weights_proj", {Dim::index_heads, Dim::hidden}, When::indexer},
};
constexpr Row kDeepseek4Moe[] = {
    {As::narrow, "ffn.gate", {Dim::experts, Dim::hidden}},
    {As::f32, "ffn.gate.bias", {Dim::experts}, When::correction_bias},
    {As::expert, "ffn.experts.{}.w1", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "ffn.experts.{}.w3", {Dim::moe_inter, Dim::hidden}},
    {As::expert, "ffn.experts.{}.w2", {Dim::hidden, Dim::moe_inter}},
    {As::linear, "ffn.shared_experts.w1", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "ffn.shared_experts.w3", {Dim::shared, Dim::hidden}, When::shared},
    {As::linear, "ffn.shared_experts.w2", {Dim::hidden, Dim::shared}, When::shared},
};

constexpr Naming kNamings[] = {
    {.model_types = kDeepseekTypes,
     .root = kRoot,
     .norms = kNorms,
     .mla = kLatentAttention,
     .dense = kMlp,
     .moe = kDeepseekMoe,
     .draft = kDeepseekDraft},
    {.model_types = kKimiLinearTypes,
     .root = kRoot,
     .norms = kNorms,
     .mla = kLatentAttention,
     .recurrent = kKimiRecurrent,
     .dense = kMlp,
     .moe = kKimiMoe,
     .draft = kDeepseekDraft},
    {.model_types = kGlmNextTypes,
     .root = kRoot,
     .norms = kNorms,
     .mla = kLatentAttention,
     .recurrent = kKimiRecurrent,
     .dense = kMlp,
     .moe = kDeepseekMoe,
     .draft = kDeepseekDraft},
    {.model_types = kDeepseek4Types,
     .root = kDeepseek4Root,
     .norms = kDeepseek4Norms,
     .attention = kDeepseek4Attention,
     .mla = kDeepseek4Attention,
     .moe = kDeepseek4Moe,
     .head = "head",
     .block_scale = profiles::DType::f8_e8m0,
     .block_scale_name = ".scale"},
};

}  // namespace

std::span<const Naming> latent_namings() { return kNamings; }

}  // namespace kvfit::models
