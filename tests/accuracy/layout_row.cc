#include "tests/accuracy/layout_row.h"

#include "planner/traits.h"
#include "profiles/error.h"
#include "tests/accuracy/spelling.h"

namespace kvfit::accuracy {

using planner::KvKind;
using planner::KvSpec;

namespace {

KvKind kind_of(const std::string& text) {
  if (text == "full") return KvKind::full;
  if (contains(text, "mamba") || text == "state") return KvKind::state;
  if (contains(text, "sliding") && contains(text, "mla")) return KvKind::sliding_mla;
  if (contains(text, "mla") || contains(text, "indexer")) return KvKind::mla;
  if (contains(text, "sliding")) return KvKind::sliding;
  if (contains(text, "chunk")) return KvKind::chunked;
  profiles::fail_input("layer class '" + text + "' is not known");
}

KvSpec spec_of(const CacheLayer& layer) {
  KvSpec spec;
  spec.kind = kind_of(layer.kind);
  if (layer.page_bytes <= 0) profiles::fail_input("a layer class without page bytes");
  spec.padded_page = layer.page_bytes;
  if (spec.kind == KvKind::state) {
    // A state holds one page, a second where states are kept at block borders, and one for each speculative token.
    spec.block_size = 0;
    spec.state_bytes = layer.page_bytes;
    spec.grows = layer.mode == "all";
    spec.fixed_pages = layer.speculative_blocks + (layer.mode == "align" ? 2 : layer.mode == "all" ? 0 : 1);
    return spec;
  }
  spec.block_size = layer.block_size;
  spec.token_bytes = layer.bytes_per_token;
  spec.window = layer.window > 0 ? layer.window : layer.chunk;
  return spec;
}

}  // namespace

planner::KvLayout layout_of(const Observation& row, const planner::Rules& rules) {
  std::vector<KvSpec> specs;
  for (const CacheLayer& layer : row.layout->layers) {
    if (layer.layers <= 0 || layer.layers > 4096) profiles::fail_input("a layer class without layers");
    const KvSpec spec = spec_of(layer);
    if (spec.kind != KvKind::state && (spec.block_size <= 0 || spec.token_bytes <= 0))
      profiles::fail_input("a layer class without bytes a token");
    specs.insert(specs.end(), static_cast<std::size_t>(layer.layers), spec);
  }
  if (specs.empty()) profiles::fail_input("no layer classes");
  planner::Question question;
  question.node.gpu.capability = {9, 0};
  question.serving.tensor_parallel_size = row.tp.value_or(1);
  question.serving.decode_context_parallel_size = row.dcp.value_or(1);
  planner::Settings settings;
  settings.tp = row.tp.value_or(1);
  settings.dcp = row.dcp.value_or(1);
  settings.max_model_len = row.arguments.max_model_len.value_or(0);
  planner::Traits traits = planner::stated_traits(question);
  planner::add_settings(traits, settings);
  planner::KvLayout layout = planner::group_layers(specs, settings, rules, traits).front();
  if (!layout.refusal.empty()) profiles::fail_input("the engine would refuse: " + layout.refusal);
  return layout;
}

std::int64_t in_flight_of(const CacheLayout& layout) { return layout.in_flight_tokens.value_or(0); }

}  // namespace kvfit::accuracy
