// The feed-forward of a layer: dense, experts, or both, and which layers have experts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "models/config.h"
#include "models/config_parts.h"
#include "models/family.h"
#include "models/layer.h"
#include "profiles/document.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::models {
namespace {

using profiles::format;
using profiles::Node;

const Keys kExpertKeys = {"num_experts",        "num_local_experts", "n_routed_experts",
                          "num_routed_experts", "moe_num_experts",   "ffn_config.moe_num_experts"};
const Keys kTopKeys = {"num_experts_per_tok", "num_experts_per_token", "moe_topk",          "moe_k",
                       "moe_top_k",           "top_k_experts",         "experts_per_token", "ffn_config.moe_top_k"};
const Keys kExpertWidthKeys = {"moe_intermediate_size", "expert_intermediate_size", "ffn_config.ffn_hidden_size"};
const Keys kSharedCountKeys = {"n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts"};
const Keys kDenseKeys = {
    "intermediate_size_mlp", "dense_intermediate_size", "intermediate_size", "ffn_hidden_size", "ffn_dim", "n_inner"};

std::int64_t hidden_size(const Config& config) { return config.need({"hidden_size", "d_model", "n_embd"}, kWidth); }

// NAS models state a multiple of 2/3 hidden, rounded down to a whole number and up to 256.
// Source: modeling_decilm.py, _ffn_mult_to_intermediate_size.
std::int64_t block_width(const Config& config, const Node& blocks, int layer) {
  const Node& ffn = blocks.list()[static_cast<std::size_t>(layer)].at("ffn");
  if (const Node* width = ffn.find("intermediate_size")) return width->integer(1, kWidth.hi);
  const Node& mult = ffn.at("ffn_mult");
  if (mult.number() <= 0 || mult.number() > 1024) mult.fail(format("ffn_mult {} is out of range", mult.number()));
  const double exact = 2 * mult.number() * static_cast<double>(hidden_size(config)) / 3;
  return profiles::round_up(static_cast<std::int64_t>(exact), 256);
}

std::int64_t dense_width(const Config& config, int layer) {
  if (const Node* blocks = config.find({"block_configs"})) return block_width(config, *blocks, layer);
  if (config.has({"block_ff_dim"})) {
    // LFM2: a third less, times a factor, rounded up. Source: vllm model_executor/models/lfm2.py, Lfm2MLP.
    const std::int64_t stated = config.need({"block_ff_dim"}, kWidth);
    if (!config.flag({"block_auto_adjust_ff_dim"}, false)) return stated;
    const double scaled = config.real({"block_ffn_dim_multiplier"}, 1.0) * static_cast<double>(2 * stated / 3);
    return profiles::round_up(static_cast<std::int64_t>(scaled), config.get({"block_multiple_of"}, 256, kWidth));
  }
  const std::int64_t shared = config.get({"shared_intermediate_size"}, 0, kWidthOrNone);
  if (shared > 0 && config.of_layer(kExpertKeys, layer, 0, kExperts) == 0) return shared;
  if (!config.has(kDenseKeys) && config.family().has(kUngated)) return 4 * hidden_size(config);
  const Node* width = config.find(kDenseKeys);
  if (width && width->is_list()) return config.of_layer(kDenseKeys, layer, 0, kWidth);
  return config.need(kDenseKeys, kWidth) / config.get({"intermediate_divisor"}, 1, {1, 16});
}

DenseFeedForward read_dense(const Config& config, int layer) {
  const Family& family = config.family();
  DenseFeedForward out;
  out.intermediate = dense_width(config, layer);
  out.gated = !family.has(kUngated);
  out.bias = config.flag({"mlp_bias"}, false) || (family.has(kAllBias) && config.flag({"use_bias"}, true));
  // Gemma-4 E models: the layers that share a cache are twice as wide.
  const std::int64_t layers = config.need({"num_hidden_layers", "n_layers", "num_layers", "n_layer"}, kLayers);
  const std::int64_t shared = config.get({"num_kv_shared_layers"}, 0, {0, kLayers.hi});
  if (config.flag({"use_double_wide_mlp"}, false) && layer >= layers - shared) out.intermediate *= 2;
  return out;
}

std::int64_t shared_width(const Config& config, const Moe& moe, int layer) {
  for (const std::string_view key : {"shared_expert_intermediate_size", "share_expert_dim", "shared_intermediate_size"}) {
    if (config.has({key})) return config.get({key}, 0, kWidthOrNone);
  }
  const std::int64_t count = config.of_layer(kSharedCountKeys, layer, 0, {0, 1024});
  if (config.has({"moe_shared_expert_intermediate_size"})) {
    return config.get({"moe_shared_expert_intermediate_size"}, 0, kWidthOrNone) * std::max<std::int64_t>(count, 1);
  }
  if (config.family().has(kSharedIsExpert)) return moe.intermediate;
  return count * moe.intermediate;
}

Moe read_moe(const Config& config, int layer) {
  const Family& family = config.family();
  Moe out;
  out.experts = config.of_layer(kExpertKeys, layer, 0, kExperts);
  out.top_k = config.of_layer(kTopKeys, layer, 0, kExperts);
  if (out.top_k < 1 || out.top_k > out.experts) {
    const Node* node = config.find(kTopKeys);
    (node ? *node : config.text())
        .fail(format("the router picks {} of {} experts a token: expected 1 to {}", out.top_k, out.experts, out.experts));
  }
  out.intermediate = config.has(kExpertWidthKeys) ? config.of_layer(kExpertWidthKeys, layer, 0, kWidth)
                                                  : config.need({"intermediate_size"}, kWidth);
  out.gated = !family.has(kUngated);
  out.shared_intermediate = shared_width(config, out, layer);
  out.shared_gate = family.has(kSharedGate) && out.shared_intermediate > 0;
  out.groups = config.get({"n_group", "num_expert_group"}, 1, kExperts);
  out.top_groups = config.get({"topk_group"}, 1, kExperts);
  out.score_correction_bias = family.has(kCorrectionBias) || config.flag({"use_routing_bias", "use_expert_bias"}, false);
  out.router_bias = family.has(kMoeBias);
  out.expert_bias = family.has(kMoeBias);
  out.latent = config.get({"moe_latent_size", "routed_expert_hidden_size"}, 0, kWidthOrNone);
  out.fused_storage = family.has(kFusedExperts);
  return out;
}

bool in_comma_list(const std::string& list, int layer) {
  std::istringstream in(list);
  for (std::string item; std::getline(in, item, ',');) {
    if (item == std::to_string(layer)) return true;
  }
  return false;
}

}  // namespace

bool has_experts(const Config& config, int layer) {
  if (config.of_layer(kExpertKeys, layer, 0, kExperts) <= 1) return false;  // one "expert" is a dense layer (Jamba-3B)
  const std::vector<std::string> words = config.words({"mlp_layer_types"});
  if (static_cast<std::size_t>(layer) < words.size()) return words[static_cast<std::size_t>(layer)] != "dense";
  const std::string listed = config.word({"moe_layers_enum"}, "");
  if (!listed.empty()) return in_comma_list(listed, layer);
  for (const std::int64_t dense : config.integers({"mlp_only_layers"}, {0, kLayers.hi})) {
    if (dense == layer) return false;
  }
  const Node* frequency = config.find({"moe_layer_freq"});
  if (frequency && frequency->is_list()) return config.of_layer({"moe_layer_freq"}, layer, 1, {0, 1}) != 0;
  const std::int64_t first =
      config.get({"first_k_dense_replace", "num_dense_layers", "moe_layer_num_skipped", "moe_layer_start_index"}, 0, kSmall);
  const Node* end = config.find({"moe_layer_end_index"});
  if (layer < first || (end && end->is_number() && end->integer() >= 0 && layer > end->integer())) return false;
  if (const std::int64_t every = config.get({"moe_layer_freq", "moe_layer_interval"}, 1, {1, kLayers.hi}); every > 1) {
    return layer % every == 0;
  }
  if (const std::int64_t period = config.get({"expert_layer_period"}, 0, kSmall); period > 0) {
    return layer % period == config.get({"expert_layer_offset"}, 0, kSmall);
  }
  const std::int64_t step = config.get({"decoder_sparse_step", "interleave_moe_layer_step"}, 1, {1, kLayers.hi});
  return (layer + 1) % step == 0;
}

void read_feed(const Config& config, Feed feed, int layer, Layer& out) {
  if (feed == Feed::none) return;
  const bool experts = feed == Feed::experts || (feed == Feed::automatic && has_experts(config, layer));
  if (experts) out.moe = read_moe(config, layer);
  if (!experts || config.family().has(kDenseBesideMoe)) out.dense = read_dense(config, layer);
  // Gemma-4 norms the two paths apart.
  if (experts && config.family().has(kDenseBesideMoe)) out.norms += 3;
}

}  // namespace kvfit::models
