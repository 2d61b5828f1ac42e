#include "planner/weight_extras.h"

#include <algorithm>
#include <cstddef>

#include "profiles/text.h"

namespace kvfit::planner {
namespace {

using models::Attention;
using models::Layer;
using models::Model;
using models::Recurrent;

// One low-rank pair beside a linear module of `in` inputs and `out` outputs, in elements for each unit of rank.
struct Pair {
  std::int64_t in = 0, out = 0;
};

Pair column(std::int64_t in, std::int64_t out, std::int64_t tp) { return {in, out / tp}; }
Pair row(std::int64_t in, std::int64_t out, std::int64_t tp) { return {in / tp, out}; }
std::int64_t sum(Pair pair) { return pair.in + pair.out; }

std::int64_t attention_pairs(const Attention& a, std::int64_t hidden, std::int64_t tp) {
  if (a.kind == Attention::Kind::mla) {
    const std::int64_t query = a.heads * (a.qk_nope_head_dim + a.qk_rope_head_dim);
    const std::int64_t low = a.q_lora_rank > 0 ? sum({hidden, a.q_lora_rank}) + sum(column(a.q_lora_rank, query, tp))
                                               : sum(column(hidden, query, tp));
    const std::int64_t expand = a.heads * (a.qk_nope_head_dim + a.head_dim_v);
    return low + sum({hidden, a.kv_lora_rank + a.qk_rope_head_dim}) + sum(column(a.kv_lora_rank, expand, tp)) +
           sum(row(a.heads * a.head_dim_v, hidden, tp));
  }
  const std::int64_t query = a.heads * a.head_dim * (a.output_gate ? 2 : 1);
  const std::int64_t kv_split = std::min(tp, std::max<std::int64_t>(a.kv_heads, 1));
  return sum(column(hidden, query, tp)) + sum(column(hidden, a.kv_heads * a.head_dim, kv_split)) +
         sum(column(hidden, a.kv_heads * a.head_dim_v, kv_split)) + sum(row(a.heads * a.head_dim_v, hidden, tp));
}

std::int64_t recurrent_pairs(const Recurrent& r, std::int64_t hidden, std::int64_t tp) {
  const std::int64_t value = r.inner > 0 ? r.inner : r.v_heads * r.v_dim;
  const std::int64_t inputs = r.inner > 0 ? 2 * r.inner : 2 * r.k_heads * r.k_dim + 2 * value;
  return sum(column(hidden, inputs, tp)) + sum(row(value, hidden, tp));
}

std::int64_t feed_forward_pairs(std::int64_t hidden, std::int64_t inter, bool gated, std::int64_t tp) {
  return (gated ? 2 : 1) * sum(column(hidden, inter, tp)) + sum(row(inter, hidden, tp));
}

std::int64_t layer_pairs(const Layer& layer, const Model& model, const Settings& settings, const Rank& rank) {
  std::int64_t out = 0;
  if (layer.attention) out += attention_pairs(*layer.attention, model.hidden, settings.tp);
  if (layer.recurrent) out += recurrent_pairs(*layer.recurrent, model.hidden, settings.tp);
  if (layer.dense) out += feed_forward_pairs(model.hidden, layer.dense->intermediate, layer.dense->gated, settings.tp);
  if (layer.moe) {
    const std::int64_t split = settings.expert_parallel > 1 ? 1 : settings.tp;
    out += local_experts(layer.moe->experts, settings.expert_parallel, rank.expert_rank) *
           feed_forward_pairs(model.hidden, layer.moe->intermediate, layer.moe->gated, split);
    if (layer.moe->shared_intermediate > 0) {
      out += feed_forward_pairs(model.hidden, layer.moe->shared_intermediate, layer.moe->gated, settings.tp);
    }
  }
  return out;
}

std::int64_t element_bytes(const Settings& settings) { return profiles::bits(settings.dtype) / 8; }

// Kept in what the model computes in, unless the cache has a type of its own.
std::int64_t rotary_bytes(const Model& model, const Settings& settings) {
  std::int64_t out = 0;
  for (const models::Rope& rope : model.ropes) {
    const profiles::DType dtype = rope.dtype == model.dtype ? settings.dtype : rope.dtype;
    out += profiles::checked_mul(profiles::checked_mul(rope.rows, rope.dim), profiles::bits(dtype) / 8);
  }
  return out;
}

std::int64_t absorbed_values(const Attention& a, std::int64_t tp) {
  if (a.kind != Attention::Kind::mla || a.compress_ratio > 0) return 0;
  return a.kv_lora_rank * (a.heads / std::min(tp, std::max<std::int64_t>(a.heads, 1))) * (a.qk_nope_head_dim + a.head_dim_v);
}

std::int64_t absorbed_bytes(const Question& question, const Settings& settings, const Traits& traits, const Rank& rank) {
  std::int64_t values = 0;
  const Model& model = question.model;
  int number = 0;
  for (const Layer& layer : model.layers) {
    if (rank.holds(number++) && layer.attention) values += absorbed_values(*layer.attention, settings.tp);
  }
  if (model.draft && rank.last_stage && drafts_in_model(question, settings, traits)) {
    for (const Layer& layer : model.draft->layers) {
      if (layer.attention) values += absorbed_values(*layer.attention, settings.tp);
    }
  }
  return values * element_bytes(settings);
}

}  // namespace

std::int64_t lora_bytes(const Model& model, const Serving& serving, const Settings& settings, const Rank& rank) {
  std::int64_t pairs = 0;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (rank.holds(static_cast<int>(i))) pairs += layer_pairs(model.layers[i], model, settings, rank);
  }
  return profiles::checked_mul(profiles::checked_mul(serving.max_loras * serving.max_lora_rank, pairs),
                               element_bytes(settings));
}

std::vector<ExtraPart> weight_extras(const Question& question, const Settings& settings, const Traits& traits,
                                     const Rank& rank, std::int64_t layer_experts) {
  std::vector<ExtraPart> out;
  const Model& model = question.model;
  if (const std::int64_t bytes = rotary_bytes(model, settings); bytes > 0) {
    out.push_back({.label = "weights.rope",
                   .text = "rotary position caches",
                   .source = "vllm/model_executor/layers/rotary_embedding",
                   .fixed = bytes});
  }
  const Row* copies = question.rules->find("latent_copies", traits);
  if (const std::int64_t bytes = absorbed_bytes(question, settings, traits, rank); bytes > 0 && copies != nullptr) {
    out.push_back({.label = "weights.latent_copies",
                   .text = "absorbed key and value projections of latent attention",
                   .source = copies->source,
                   .fixed = static_cast<std::int64_t>(static_cast<double>(bytes) * copies->value("copies"))});
  }
  if (question.serving.enable_lora) {
    out.push_back(
        {.label = "weights.lora",
         .text = profiles::format("{} LoRA slot(s) of rank {}", question.serving.max_loras, question.serving.max_lora_rank),
         .source = "vllm/lora/layers",
         .fixed = lora_bytes(model, question.serving, settings, rank)});
  }
  if (question.serving.enable_eplb && layer_experts > 0) {
    out.push_back({.label = "weights.expert_balancing",
                   .text = "buffer of one layer's experts for rebalancing",
                   .source = "vllm/distributed/eplb/eplb_state.py",
                   .per_local = layer_experts});
  }
  return out;
}

}  // namespace kvfit::planner
