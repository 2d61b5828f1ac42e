// The cos/sin caches the engine builds, one per distinct rotary configuration, and the longest context it derives.
// Source: vllm model_executor/layers/rotary_embedding/__init__.py (get_rope) and its classes; config/model.py
// (_get_and_verify_max_len).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "models/config.h"
#include "models/config_parts.h"
#include "models/family.h"
#include "models/layer.h"
#include "models/model.h"
#include "profiles/document.h"
#include "profiles/dtype.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::Node;

struct Scaling {
  std::string type = "default";
  double factor = 1;
  std::int64_t original = 0;  ///< original_max_position_embeddings, or 0
  double partial = 0;         ///< partial_rotary_factor stated beside it, or 0
  bool mrope = false;
  bool alpha = false;
};

std::int64_t stated_positions(const Config& config) {
  if (config.has({"model_max_length"})) return config.need({"model_max_length"}, kPositions);
  return config.need({"max_position_embeddings", "max_sequence_length", "max_seq_len", "seq_length", "n_positions"},
                     kPositions);
}

Scaling read_scaling(const Node* map) {
  Scaling out;
  if (!map || !map->is_map()) return out;
  for (const char* key : {"type", "rope_type"}) {
    if (const Node* type = map->find(key)) out.type = type->string();
  }
  if (const Node* factor = map->find("factor")) out.factor = factor->number();
  if (out.factor < 1 || out.factor > 1e6) map->at("factor").fail("factor is out of range: 1 to 1000000 is allowed");
  if (const Node* original = map->find("original_max_position_embeddings"))
    out.original = original->integer(1, kPositions.hi);
  if (const Node* partial = map->find("partial_rotary_factor")) out.partial = partial->number();
  out.mrope = map->has("mrope_section");
  out.alpha = map->has("alpha");
  return out;
}

// Gemma-3/4 and friends keep one map per kind of layer.
const Node* scaling_map(const Config& config, bool local) {
  if (const Node* keyed = config.find({local ? "rope_parameters.sliding_attention" : "rope_parameters.full_attention"})) {
    return keyed;
  }
  const Node* map = config.find({"rope_parameters", "rope_scaling"});
  if (const Node* both = config.find({"rope_scaling"}); both && map && !map->has("rope_type") && !map->has("type"))
    map = both;
  return map;
}

bool has_local_rope(const Config& config) {
  return config.has({"rope_parameters.sliding_attention", "rope_local_base_freq", "swa_rope_theta", "local_rope_theta",
                     "yarn_only_types"}) ||
         config.get({"local_rope"}, 0, {0, 1}) != 0;
}

std::int64_t scaled_rows(const Scaling& scaling, std::int64_t positions) {
  const auto times = [&scaling](std::int64_t n) {
    return static_cast<std::int64_t>(std::floor(static_cast<double>(n) * scaling.factor));
  };
  if (scaling.type == "yarn" || scaling.type == "deepseek_yarn")
    return times(scaling.original > 0 ? scaling.original : positions);
  if (scaling.type == "linear" || (scaling.type == "dynamic" && !scaling.alpha)) return times(positions);
  // Long RoPE keeps a short and a long table.
  if ((scaling.type == "longrope" || scaling.type == "su") && scaling.original > 0) return scaling.original + positions;
  return positions;
}

Rope read_rope(const Config& config, const Attention& attention, bool local, profiles::DType dtype) {
  const bool own = local && has_local_rope(config);
  Scaling scaling = read_scaling(scaling_map(config, own));
  const bool keyed_map = config.has({"rope_parameters.sliding_attention"});
  if (own && !keyed_map) scaling = Scaling{.type = "default", .factor = 1, .original = 0, .partial = scaling.partial};
  if (scaling.original == 0) scaling.original = config.get({"original_max_position_embeddings"}, 0, kPositionsOrNone);
  Rope out;
  out.rows = scaled_rows(scaling, stated_positions(config));
  if (scaling.mrope || config.family().has(kMrope)) out.rows *= 4;
  const bool latent = attention.kind == Attention::Kind::mla;
  const std::int64_t head = latent ? attention.qk_rope_head_dim : attention.head_dim;
  const double partial = scaling.partial > 0 ? scaling.partial : config.real({"partial_rotary_factor", "rotary_pct"}, 1.0);
  // "proportional" pads the rotated part to the whole head (vllm gemma4_rope.py).
  const bool whole = latent || scaling.type == "proportional";
  out.dim = whole ? head : static_cast<std::int64_t>(static_cast<double>(head) * std::clamp(partial, 0.0, 1.0));
  if (!latent) out.dim = config.get({"rotary_dim", "attn_rotary_emb"}, out.dim, kWidth);
  // DeepSeek's YaRN keeps its cache in fp32 (vllm deepseek_scaling_rope.py).
  out.dtype = latent && scaling.type == "yarn" ? profiles::DType::f32 : dtype;
  return out;
}

}  // namespace

std::vector<Rope> read_ropes(const Config& config, const std::vector<Layer>& layers, profiles::DType dtype) {
  std::vector<Rope> out;
  if (config.family().has(kNoRope) || config.word({"position_embedding_type"}, "") == "nope") return out;
  const bool two = has_local_rope(config);
  bool seen_global = false, seen_local = false, index_rope = false;
  for (const Layer& layer : layers) {
    if (!layer.attention) continue;
    const bool local = two && layer.attention->kind == Attention::Kind::sliding;
    if (!(local ? seen_local : seen_global)) out.push_back(read_rope(config, *layer.attention, local, dtype));
    (local ? seen_local : seen_global) = true;
    index_rope = index_rope || (layer.attention->kind == Attention::Kind::mla && layer.attention->indexer.has_value());
  }
  if (out.empty()) return out;
  // The indexer rotates halves, MLA rotates pairs: two caches unless the config makes them alike.
  const bool apart = index_rope && !config.flag({"indexer_rope_interleave"}, false) && !config.has({"compress_ratios"});
  if (apart || config.has({"compress_rope_theta"})) out.push_back(out.front());
  return out;
}

std::int64_t read_max_position(const Config& config) {
  const std::int64_t stated = stated_positions(config);
  const Scaling scaling = read_scaling(scaling_map(config, false));
  static constexpr std::string_view kKnown[] = {"",     "default",       "linear",       "dynamic",
                                                "yarn", "deepseek_yarn", "longrope",     "su",
                                                "ntk",  "llama3",        "proportional", "deepseek_llama_scaling",
                                                "mrope"};
  if (std::find(std::begin(kKnown), std::end(kKnown), scaling.type) == std::end(kKnown))
    config.assume(profiles::format("rope type '{}' is not known: positions are taken as stated", scaling.type));
  static constexpr std::string_view kStretching[] = {"linear", "dynamic", "yarn", "deepseek_yarn"};
  const bool stretches = std::find(std::begin(kStretching), std::end(kStretching), scaling.type) != std::end(kStretching);
  // Gemma-3 states the length after scaling.
  if (!stretches || config.get({"local_rope"}, 0, {0, 1}) != 0) return stated;
  return static_cast<std::int64_t>(static_cast<double>(scaling.original > 0 ? scaling.original : stated) * scaling.factor);
}

}  // namespace kvfit::models
