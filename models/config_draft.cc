// Draft layers stored beside the model: multi-token prediction heads. They repeat the model's last layer; their tensors
// follow the trunk's numbers (DeepSeek, GLM) or stand under a prefix of their own (Qwen, Nemotron).
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/config.h"
#include "models/config_parts.h"
#include "models/family.h"
#include "models/layer.h"
#include "models/model.h"
#include "profiles/document.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::format;
using profiles::Node;

const Keys kDraftKeys = {"num_nextn_predict_layers", "mtp_num_hidden_layers", "mtp_num_layers"};

// Layers of one draft step; Nemotron-H writes a pattern (mixer and experts are layers of their own there).
std::vector<Slot> draft_slots(const Config& config) {
  if (const Node* letters = config.find({"mtp_hybrid_override_pattern"})) return slots_from_letters(*letters);
  if (const Node* words = config.find({"mtp_layers_block_type"})) return slots_from_words(*words, config.family());
  return {};
}

Layer draft_layer(const Config& config, const Model& model, int step) {
  Layer out = model.layers.back();
  out.extra_parameters = 0;
  const int index = static_cast<int>(model.layers.size()) + step;
  if (config.family().has(kFullDraft) || !out.attention) {
    out.recurrent.reset();
    out.attention = read_attention(config, Mix::full, static_cast<int>(model.layers.size()) - 1);
  }
  if (config.has({"compress_ratios"})) {
    out.attention = read_attention(config, Mix::full, index);
  }
  out.attention->kv_from_layer = -1;
  if (out.attention->indexer) out.attention->indexer->owns_cache = true;
  return out;
}

}  // namespace

std::optional<Draft> read_draft(const Config& config, const Model& model) {
  const std::int64_t steps = config.get(kDraftKeys, 0, {0, 64});
  if (steps == 0) return std::nullopt;
  Draft out;
  out.method = "mtp";
  const Family& family = config.family();
  out.prefix = family.draft_prefix.empty() ? format("{}layers.{}.", model.name_prefix, model.layers.size())
                                           : std::string(family.draft_prefix);
  const std::vector<Slot> slots = draft_slots(config);
  for (std::int64_t step = 0; step < steps; ++step) {
    for (const Slot& slot : slots) {
      Layer layer;
      layer.norms = family.norms;
      if (slot.mix == Mix::full) layer.attention = read_attention(config, slot.mix, 0);
      if (slot.mix == Mix::recurrent) layer.recurrent = read_recurrent(config);
      read_feed(config, slot.feed, 0, layer);
      out.layers.push_back(layer);
    }
    if (slots.empty()) out.layers.push_back(draft_layer(config, model, static_cast<int>(step)));
  }
  out.own_embedding = family.has(kDraftOwnsEnds) || config.flag({"mtp_use_dedicated_embeddings"}, false);
  out.own_head = family.has(kDraftOwnsEnds);
  return out;
}

}  // namespace kvfit::models
