// Decoders before Llama: learned positions, LayerNorm with biases, feed-forwards without a gate.
//
// Source: transformers, src/transformers/models/<model_type>/modeling_<model_type>.py.
#include <span>
#include <string_view>

#include "models/naming.h"
#include "models/naming_common.h"

namespace kvfit::models {
namespace {

// OLMo: LayerNorm without weights.
constexpr std::string_view kOlmoTypes[] = {"olmo"};
constexpr Row kOlmoRoot[] = {
    {As::narrow, "embed_tokens", {Dim::vocab, Dim::hidden}},
};

constexpr std::string_view kOptTypes[] = {"opt"};
constexpr Row kOptRoot[] = {
    {As::narrow, "embed_tokens", {Dim::vocab, Dim::hidden}},
    {As::plain, "final_layer_norm.weight", {Dim::hidden}},
    {As::plain, "final_layer_norm.bias", {Dim::hidden}},
};
constexpr Row kOptNorms[] = {
    {As::plain, "self_attn_layer_norm.weight", {Dim::hidden}},
    {As::plain, "self_attn_layer_norm.bias", {Dim::hidden}},
    {As::plain, "final_layer_norm.weight", {Dim::hidden}},
    {As::plain, "final_layer_norm.bias", {Dim::hidden}},
};
constexpr Row kOptAttention[] = {
    {As::linear, "self_attn.q_proj", {Dim::q, Dim::hidden}},
    {As::linear, "self_attn.k_proj", {Dim::k_all, Dim::hidden}},
    {As::linear, "self_attn.v_proj", {Dim::v_all, Dim::hidden}},
    {As::linear, "self_attn.out_proj", {Dim::hidden, Dim::o}},
    {As::plain, "self_attn.q_proj.bias", {Dim::q}, When::qkv_bias},
    {As::plain, "self_attn.k_proj.bias", {Dim::k_all}, When::qkv_bias},
    {As::plain, "self_attn.v_proj.bias", {Dim::v_all}, When::qkv_bias},
    {As::plain, "self_attn.out_proj.bias", {Dim::hidden}, When::o_bias},
};
constexpr Row kOptMlp[] = {
    {As::linear, "fc1", {Dim::inter, Dim::hidden}},
    {As::linear, "fc2", {Dim::hidden, Dim::inter}},
    {As::plain, "fc1.bias", {Dim::inter}, When::mlp_bias},
    {As::plain, "fc2.bias", {Dim::hidden}, When::mlp_bias},
};

constexpr std::string_view kGpt2Types[] = {"gpt2"};
constexpr Row kGpt2Root[] = {
    {As::narrow, "wte", {Dim::vocab, Dim::hidden}},
    {As::plain, "ln_f.weight", {Dim::hidden}},
    {As::plain, "ln_f.bias", {Dim::hidden}},
};
constexpr Row kGpt2Norms[] = {
    {As::plain, "ln_1.weight", {Dim::hidden}},
    {As::plain, "ln_1.bias", {Dim::hidden}},
    {As::plain, "ln_2.weight", {Dim::hidden}},
    {As::plain, "ln_2.bias", {Dim::hidden}},
};
// Stored transposed.
constexpr Row kGpt2Attention[] = {
    {As::linear, "attn.c_attn", {Dim::hidden, Dim::qkv}},
    {As::linear, "attn.c_proj", {Dim::o, Dim::hidden}},
    {As::plain, "attn.c_attn.bias", {Dim::qkv}, When::qkv_bias},
    {As::plain, "attn.c_proj.bias", {Dim::hidden}, When::o_bias},
};
constexpr Row kGpt2Mlp[] = {
    {As::linear, "mlp.c_fc", {Dim::hidden, Dim::inter}},
    {As::linear, "mlp.c_proj", {Dim::inter, Dim::hidden}},
    {As::plain, "mlp.c_fc.bias", {Dim::inter}, When::mlp_bias},
    {As::plain, "mlp.c_proj.bias", {Dim::hidden}, When::mlp_bias},
};

constexpr std::string_view kNeoxTypes[] = {"gpt_neox"};
constexpr Row kNeoxRoot[] = {
    {As::narrow, "embed_in", {Dim::vocab, Dim::hidden}},
    {As::plain, "final_layer_norm.weight", {Dim::hidden}},
    {As::plain, "final_layer_norm.bias", {Dim::hidden}},
};
constexpr Row kNeoxAttention[] = {
    {As::linear, "attention.query_key_value", {Dim::qkv, Dim::hidden}},
    {As::linear, "attention.dense", {Dim::hidden, Dim::o}},
    {As::plain, "attention.query_key_value.bias", {Dim::qkv}, When::qkv_bias},
    {As::plain, "attention.dense.bias", {Dim::hidden}, When::o_bias},
};
constexpr Row kNeoxMlp[] = {
    {As::linear, "mlp.dense_h_to_4h", {Dim::inter, Dim::hidden}},
    {As::linear, "mlp.dense_4h_to_h", {Dim::hidden, Dim::inter}},
    {As::plain, "mlp.dense_h_to_4h.bias", {Dim::inter}, When::mlp_bias},
    {As::plain, "mlp.dense_4h_to_h.bias", {Dim::hidden}, When::mlp_bias},
};

constexpr Naming kNamings[] = {
    {.model_types = kOlmoTypes, .root = kOlmoRoot, .attention = kAttention, .dense = kMlp},
    {.model_types = kOptTypes,
     .root = kOptRoot,
     .norms = kOptNorms,
     .attention = kOptAttention,
     .dense = kOptMlp,
     .prefix = "model.decoder."},
    {.model_types = kGpt2Types,
     .root = kGpt2Root,
     .norms = kGpt2Norms,
     .attention = kGpt2Attention,
     .dense = kGpt2Mlp,
     .layers = "h"},
    {.model_types = kNeoxTypes,
     .root = kNeoxRoot,
     .norms = kNorms,
     .attention = kNeoxAttention,
     .dense = kNeoxMlp,
     .prefix = "gpt_neox.",
     .head = "embed_out"},
};

}  // namespace

std::span<const Naming> older_namings() { return kNamings; }

}  // namespace kvfit::models
