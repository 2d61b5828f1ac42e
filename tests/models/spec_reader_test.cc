#include "models/spec_reader.h"

#include <doctest/doctest.h>

#include <string>

#include "models/config_reader.h"
#include "models/describe.h"
#include "profiles/document.h"
#include "profiles/error.h"

namespace kvfit::models {
namespace {

const std::string kHead = "family: qwen3_moe\ndtype: bfloat16\nhidden: 2048\nvocab: 151936\nmax_position: 40960\n";

std::string read(const std::string& yaml) {
  try {
    return describe(read_spec(profiles::parse_yaml(yaml, "m.yaml"), "m"));
  } catch (const profiles::Error& error) {
    return error.text();
  }
}

TEST_CASE("a spec of Qwen3-30B-A3B is the model that its config gives") {
  const std::string spec = kHead +
                           "layers: [{repeat: 48, attention: {heads: 32, kv_heads: 4, head_dim: 128, qk_norm: true},"
                           " moe: {experts: 128, top_k: 8, intermediate: 768}}]\n"
                           "ropes: [{rows: 40960, dim: 128}]\n";
  const std::string config =
      R"({"model_type": "qwen3_moe", "torch_dtype": "bfloat16", "hidden_size": 2048, "vocab_size": 151936, "head_dim": 128,
          "max_position_embeddings": 40960, "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4,
          "intermediate_size": 6144, "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768})";
  CHECK_EQ(read(spec), describe(read_config(profiles::parse_json(config, "config.json"), nullptr, "m")));
}

TEST_CASE("groups of layers repeat as written") {
  CHECK_EQ(
      read(
          kHead +
          "layers:\n"
          "  - repeat: 2\n"
          "    layers:\n"
          "      - {repeat: 3, attention: {kind: sliding, window: 512, heads: 4, head_dim: 64}, dense: {intermediate: 64}}\n"
          "      - {recurrent: {kind: mamba2, v_heads: 8, v_dim: 64, k_dim: 16}, dense: {intermediate: 64}}\n"),
      "qwen3_moe hidden=2048 vocab=151936 untied positions=40960 bfloat16 | A=[sliding 4/4x64 window 512 mlp 64 norms 2] "
      "B=[mamba2 0/8x16:64 mlp 64 norms 2] (3A B)x2 | plain");
}

TEST_CASE("an unknown key, a missing one and an unknown family say so") {
  CHECK_EQ(read(kHead + "layers: [{attention: {heads: 4, head_dim: 64, kv_haeds: 2}}]\n"),
           "error: unknown key 'kv_haeds'\n"
           "  --> m.yaml:6:57  (layers[0].attention.kv_haeds)\n"
           " 6 | layers: [{attention: {heads: 4, head_dim: 64, kv_haeds: 2}}]\n"
           "   |                                                         ^\n"
           "  help: did you mean 'kv_heads'?");
  CHECK_EQ(read(kHead),
           "error: missing key 'layers'\n"
           "  --> m.yaml:1:1\n"
           " 1 | family: qwen3_moe\n"
           "   | ^");
  CHECK_EQ(
      read("family: lama\ndtype: bfloat16\n"),
      "error: unknown family 'lama'\n"
      "  --> m.yaml:1:9  (family)\n"
      " 1 | family: lama\n"
      "   |         ^\n"
      "  help: did you mean 'llama'? the family says what the tensors are called; take the one the model is built like, for "
      "example llama (dense), qwen3_moe (experts), deepseek_v3 (latent attention), qwen3_5_moe_text (delta net)");
}

TEST_CASE("a layer without parts, an unknown kind and too many layers are refused") {
  CHECK_EQ(read(kHead + "layers: [{norms: 2}]\n"),
           "error: a layer needs at least one of attention, recurrent, dense, moe\n"
           "  --> m.yaml:6:10  (layers[0])\n"
           " 6 | layers: [{norms: 2}]\n"
           "   |          ^");
  CHECK_EQ(read(kHead + "layers: [{attention: {kind: slidng, heads: 4, head_dim: 64}}]\n"),
           "error: unknown kind 'slidng'\n"
           "  --> m.yaml:6:29  (layers[0].attention.kind)\n"
           " 6 | layers: [{attention: {kind: slidng, heads: 4, head_dim: 64}}]\n"
           "   |                             ^\n"
           "  help: did you mean 'sliding'? known: full, sliding, chunked, mla");
  CHECK_EQ(read(kHead + "layers: [{repeat: 99, layers: [{repeat: 99, dense: {intermediate: 1}}]}]\n"),
           "error: more than 2048 layers\n"
           "  --> m.yaml:6:10  (layers[0])\n"
           " 6 | layers: [{repeat: 99, layers: [{repeat: 99, dense: {intermediate: 1}}]}]\n"
           "   |          ^");
}

}  // namespace
}  // namespace kvfit::models
