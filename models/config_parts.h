// The passes behind read_config (config_reader.h), one file each. Each reads its part of a Config and returns a value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/config.h"
#include "models/layer.h"
#include "models/model.h"

namespace kvfit::models {

/// How a layer mixes tokens. `parallel`: attention and a recurrent state side by side; `none`: a feed-forward only.
enum class Mix { full, sliding, chunked, recurrent, parallel, none };
/// What follows: `automatic` leaves it to the experts' placement keys.
enum class Feed { automatic, dense, experts, none };

struct Slot {
  Mix mix = Mix::full;
  Feed feed = Feed::automatic;
};

/// config_mixers.cc: one slot a layer, from layer_types, a pattern string, a period or an interval.
std::vector<Slot> read_slots(const Config& config);
/// Nemotron-H letters: M recurrent, * attention, - feed-forward, E experts.
std::vector<Slot> slots_from_letters(const profiles::Node& node);
std::vector<Slot> slots_from_words(const profiles::Node& node, const Family& family);

/// config_attention.cc. `mix` is full, sliding, chunked or parallel.
Attention read_attention(const Config& config, Mix mix, int layer);
/// Layers that read another layer's cache (num_kv_shared_layers, cla_share_factor): sets kv_from_layer.
void share_caches(const Config& config, const std::vector<Slot>& slots, std::vector<Layer>& layers);

/// config_recurrent.cc
Recurrent read_recurrent(const Config& config);

/// config_feed.cc: fills dense and moe of the layer.
void read_feed(const Config& config, Feed feed, int layer, Layer& out);
/// True when the placement keys give layer `layer` experts.
bool has_experts(const Config& config, int layer);

/// config_rope.cc: the caches the engine builds, and the longest context it derives from the config.
std::vector<Rope> read_ropes(const Config& config, const std::vector<Layer>& layers, profiles::DType dtype);
std::int64_t read_max_position(const Config& config);

/// config_vision.cc
std::optional<Vision> read_vision(const Config& config);
std::optional<std::int64_t> read_audio(const Config& config);

/// config_extra.cc: parameters no other field names (per-layer inputs, hyper-connections, n-gram tables).
void read_extras(const Config& config, Model& model);

/// config_draft.cc
std::optional<Draft> read_draft(const Config& config, const Model& model);

}  // namespace kvfit::models
