// Shared by the memory tests: dense models written from their published configurations, the tensors their checkpoints store,
// and a question about one H100 (79.19 GiB, 132 processors) under a stated version.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "planner/loaded_weights.h"
#include "planner/question.h"
#include "planner/traits.h"
#include "tests/planner/kv_support.h"

namespace kvfit::planner::test {

using models::Role;
using models::Tensor;
using profiles::DType;

struct Dense {
  std::int64_t hidden, layers, heads, kv_heads, head_dim, inter, vocab, max_position;
  bool tied = false, qkv_bias = false, qk_norm = false, fused = false;
  int norms = 2;
  double rope_factor = 1;
};

inline models::Model model_of(const Dense& d) {
  models::Model model;
  model.family = "test";
  model.hidden = d.hidden;
  model.vocab = d.vocab;
  model.max_position = d.max_position;
  model.tied_embeddings = d.tied;
  models::Layer layer;
  layer.attention = models::Attention{};
  layer.attention->heads = d.heads;
  layer.attention->kv_heads = d.kv_heads;
  layer.attention->head_dim = layer.attention->head_dim_v = d.head_dim;
  layer.dense = models::DenseFeedForward{};
  layer.dense->intermediate = d.inter;
  model.layers.assign(static_cast<std::size_t>(d.layers), layer);
  model.ropes.push_back(
      {static_cast<std::int64_t>(static_cast<double>(d.max_position) * d.rope_factor), d.head_dim, DType::bf16});
  return model;
}

inline Tensor tensor(std::string name, Role role, int layer, std::vector<std::int64_t> shape, DType dtype = DType::bf16) {
  Tensor out;
  out.name = std::move(name);
  out.role = role;
  out.layer = layer;
  out.shape = std::move(shape);
  out.dtype = dtype;
  return out;
}

inline void add_layer(std::vector<Tensor>& out, const Dense& d, int layer) {
  const std::string at = "model.layers." + std::to_string(layer) + ".";
  const std::int64_t q = d.heads * d.head_dim;
  const std::int64_t kv = d.kv_heads * d.head_dim;
  const auto linear = [&](const char* name, Role role, std::int64_t rows, std::int64_t columns, bool bias = false) {
    out.push_back(tensor(at + name + ".weight", role, layer, {rows, columns}));
    if (bias) out.push_back(tensor(at + name + ".bias", role, layer, {rows}));
  };
  if (d.fused) {
    linear("self_attn.qkv_proj", Role::attention, q + 2 * kv, d.hidden);
    linear("mlp.gate_up_proj", Role::dense_mlp, 2 * d.inter, d.hidden);
  } else {
    linear("self_attn.q_proj", Role::attention, q, d.hidden, d.qkv_bias);
    linear("self_attn.k_proj", Role::attention, kv, d.hidden, d.qkv_bias);
    linear("self_attn.v_proj", Role::attention, kv, d.hidden, d.qkv_bias);
    linear("mlp.gate_proj", Role::dense_mlp, d.inter, d.hidden);
    linear("mlp.up_proj", Role::dense_mlp, d.inter, d.hidden);
  }
  linear("self_attn.o_proj", Role::attention, d.hidden, q);
  linear("mlp.down_proj", Role::dense_mlp, d.hidden, d.inter);
  for (int i = 0; i < d.norms; ++i) {
    out.push_back(tensor(at + "norm" + std::to_string(i) + ".weight", Role::norm, layer, {d.hidden}));
  }
}

inline std::shared_ptr<models::TensorInventory> inventory_of(const Dense& d) {
  auto out = std::make_shared<models::TensorInventory>();
  out->tensors.push_back(tensor("model.embed_tokens.weight", Role::embedding, -1, {d.vocab, d.hidden}));
  if (!d.tied) out->tensors.push_back(tensor("lm_head.weight", Role::head, -1, {d.vocab, d.hidden}));
  out->tensors.push_back(tensor("model.norm.weight", Role::norm, -1, {d.hidden}));
  for (int layer = 0; layer < static_cast<int>(d.layers); ++layer) add_layer(out->tensors, d, layer);
  return out;
}

inline Question h100(models::Model model, std::shared_ptr<const models::TensorInventory> inventory, const char* version) {
  Question question;
  question.node.gpu.capability = {9, 0};
  question.node.gpu.sm_count.value = 132;
  const profiles::Bytes total = profiles::from_gib(79.19);
  question.node.gpu.cuda_total_linux.value = {total, total, total};
  question.node.link = hardware::Link::nvlink;
  question.model = std::move(model);
  question.inventory = std::move(inventory);
  question.rules = std::make_shared<const Rules>(vllm_rules(version));
  return question;
}

inline Question h100(const Dense& d, const char* version) { return h100(model_of(d), inventory_of(d), version); }

/// Settings and traits as the planner would resolve them.
struct Asked {
  Traits traits;
  Settings settings;
};
inline Asked ask(const Question& question) {
  Asked out;
  out.traits = stated_traits(question);
  out.settings = resolve_settings(question, out.traits);
  add_settings(out.traits, out.settings);
  return out;
}

inline double gib(const Amount& amount) { return profiles::to_gib(amount.bytes); }

// Published configurations (config.json of the repositories named).
inline const Dense kLlama31_8b{4096, 32, 32, 8, 128, 14336, 128256, 131072};                               // meta-llama
inline const Dense kQwen25_7b{3584, 28, 28, 4, 128, 18944, 152064, 32768, false, true};                    // Qwen
inline const Dense kQwen25_3b{2048, 36, 16, 2, 128, 11008, 151936, 32768, true, true};                     // Qwen
inline const Dense kQwen25_72b{8192, 80, 64, 8, 128, 29568, 152064, 32768, false, true};                   // Qwen
inline const Dense kKimiDev_72b{8192, 80, 64, 8, 128, 29568, 152064, 131072, false, true};                 // moonshotai
inline const Dense kQwen3_14b{5120, 40, 40, 8, 128, 17408, 151936, 40960, false, false, true};             // Qwen
inline const Dense kQwen3_32b{5120, 64, 64, 8, 128, 25600, 151936, 40960, false, false, true};             // Qwen
inline const Dense kPhi4{5120, 40, 40, 10, 128, 17920, 100352, 16384, false, false, false, true};          // microsoft
inline const Dense kGemma2_2b{2304, 26, 8, 4, 256, 9216, 256000, 8192, true, false, false, false, 4};      // google
inline const Dense kGemma2_27b{4608, 46, 32, 16, 128, 36864, 256000, 8192, true, false, false, false, 4};  // google
inline const Dense kCodeLlama_7b{4096, 32, 32, 32, 128, 11008, 32016, 16384};                              // codellama

}  // namespace kvfit::planner::test
