// Which layer mixes tokens how. Configs say it in a dozen ways; the first that is present decides:
// layer_types / layers_block_type words, hybrid_override_pattern letters, attn_type_list, hybrid_layer_pattern,
// block_configs, linear_attn_config, attn_layer_indices, attn_layer_period, full_attention_interval, a window with a
// pattern, a chunk, a window, or full attention everywhere.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/config.h"
#include "models/config_parts.h"
#include "models/family.h"
#include "profiles/document.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::format;
using profiles::Node;

constexpr std::int64_t kMaxLayers = kLayers.hi;

Slot slot_from_word(const Node& node, const Family& family) {
  static constexpr std::pair<std::string_view, Mix> kWords[] = {
      {"full_attention", Mix::full},
      {"attention", Mix::full},
      {"deepseek_sparse_attention", Mix::full},
      {"sparse_attention", Mix::full},
      {"sliding_attention", Mix::sliding},
      {"chunked_attention", Mix::chunked},
      {"linear_attention", Mix::recurrent},
      {"lightning_attention", Mix::recurrent},
      {"mamba", Mix::recurrent},
      {"mamba2", Mix::recurrent},
      {"conv", Mix::recurrent},
      {"hybrid", Mix::parallel},
  };
  const std::string& word = node.string();
  // A family whose layers are a mixer or a feed-forward, never both, has one norm a layer.
  const bool single = family.recurrent == Recurrent::Kind::mamba2 && family.norms == 1;
  if (word == "moe") return {Mix::none, Feed::experts};
  if (word == "mlp") return {Mix::none, Feed::dense};
  for (const auto& [name, mix] : kWords) {
    if (name == word) return {mix, single ? Feed::none : Feed::automatic};
  }
  node.fail(format("unknown kind of layer '{}'", word),
            "known: full_attention, sliding_attention, chunked_attention, linear_attention, mamba, conv, moe, mlp");
}

void check_count(const Node& node, std::size_t found, std::int64_t layers) {
  if (found < static_cast<std::size_t>(layers)) {
    node.fail(format("the list describes {} layers, but num_hidden_layers is {}", found, layers));
  }
}

std::vector<Slot> from_numbers(const Config& config, Keys keys, std::int64_t layers, Mix zero, Mix one) {
  const Node& node = *config.find(keys);
  const std::vector<std::int64_t> numbers = config.integers(keys, {0, 1});
  check_count(node, numbers.size(), layers);
  std::vector<Slot> out;
  for (std::int64_t i = 0; i < layers; ++i) out.push_back({numbers[static_cast<std::size_t>(i)] == 0 ? zero : one});
  return out;
}

std::vector<Slot> from_blocks(const Node& blocks, std::int64_t layers) {
  check_count(blocks, blocks.list().size(), layers);
  std::vector<Slot> out;
  for (std::int64_t i = 0; i < layers; ++i) {
    const Node& block = blocks.list()[static_cast<std::size_t>(i)];
    const auto absent = [&block](std::string_view part) {
      const Node* no_op = block.at(part).find("no_op");
      return no_op && no_op->boolean();
    };
    out.push_back({absent("attention") ? Mix::none : Mix::full, absent("ffn") ? Feed::none : Feed::dense});
  }
  return out;
}

std::vector<Slot> from_listed_attention(const std::vector<std::int64_t>& attention, std::int64_t layers,
                                        std::int64_t first) {
  std::vector<Slot> out(static_cast<std::size_t>(layers), Slot{Mix::recurrent});
  for (const std::int64_t layer : attention) {
    if (layer >= first && layer - first < layers) out[static_cast<std::size_t>(layer - first)].mix = Mix::full;
  }
  return out;
}

std::vector<Slot> from_period(const Config& config, std::int64_t layers) {
  std::vector<Slot> out(static_cast<std::size_t>(layers));
  const std::int64_t interval = config.get({"full_attention_interval"}, 0, kSmall);
  const std::int64_t period = config.get({"attn_layer_period"}, 0, kSmall);
  const std::int64_t offset = config.get({"attn_layer_offset"}, 0, kSmall);
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool full = interval > 0 ? (i + 1) % interval == 0 : i % period == offset;
    out[static_cast<std::size_t>(i)].mix = full ? Mix::full : Mix::recurrent;
  }
  return out;
}

// Llama-4: layers with rotary positions attend within a chunk, every fourth has none and sees everything.
std::vector<Slot> from_chunks(const Config& config, std::int64_t layers) {
  const std::vector<std::int64_t> listed = config.integers({"no_rope_layers"}, {0, 1});
  const std::int64_t interval = config.get({"no_rope_layer_interval"}, 4, {1, kMaxLayers});
  std::vector<Slot> out;
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    const bool rotary = at < listed.size() ? listed[at] != 0 : (i + 1) % interval != 0;
    out.push_back({rotary ? Mix::chunked : Mix::full});
  }
  return out;
}

std::vector<Slot> from_window(const Config& config, std::int64_t layers) {
  std::vector<Slot> out(static_cast<std::size_t>(layers));
  const bool windowed = config.flag({"use_sliding_window"}, true) &&
                        config.get({"sliding_window", "sliding_window_size"}, 0, kPositionsOrNone) > 0;
  if (!windowed) return out;
  const Node* letters = config.find({"sliding_window_pattern"});  // "LLLG": local, local, local, global
  const bool spelled = letters && letters->is_string() && !letters->string().empty();
  const std::int64_t pattern = spelled ? 0 : config.get({"sliding_window_pattern", "_sliding_window_pattern"}, 0, kSmall);
  const bool from_layer = config.has({"use_sliding_window"}) && config.has({"max_window_layers"});
  const std::int64_t first = from_layer ? config.get({"max_window_layers"}, 0, kSmall) : 0;
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    const bool full = spelled ? letters->string()[at % letters->string().size()] == 'G'
                              : (pattern > 0 ? (i + 1) % pattern == 0 : i < first);
    out[at].mix = full ? Mix::full : Mix::sliding;
  }
  return out;
}

}  // namespace

std::vector<Slot> slots_from_letters(const Node& node) {
  std::vector<Slot> out;
  for (const char letter : node.string()) {
    switch (letter) {
      case 'M':
        out.push_back({Mix::recurrent, Feed::none});
        break;
      case '*':
        out.push_back({Mix::full, Feed::none});
        break;
      case '-':
        out.push_back({Mix::none, Feed::dense});
        break;
      case 'E':
        out.push_back({Mix::none, Feed::experts});
        break;
      default:
        node.fail(format("unknown kind of layer '{}'", letter), "known: M (Mamba), * (attention), - (MLP), E (experts)");
    }
  }
  return out;
}

std::vector<Slot> slots_from_words(const Node& node, const Family& family) {
  std::vector<Slot> out;
  for (const Node& item : node.list()) out.push_back(slot_from_word(item, family));
  return out;
}

std::vector<Slot> read_slots(const Config& config) {
  const Node* words = config.find({"layers_block_type", "layer_types"});
  const Node* letters = config.find({"hybrid_override_pattern"});
  std::vector<Slot> listed;
  if (words) listed = slots_from_words(*words, config.family());
  if (!words && letters) listed = slots_from_letters(*letters);
  const std::int64_t stated = static_cast<std::int64_t>(listed.size());
  const Keys count = {"num_hidden_layers", "n_layers", "num_layers", "n_layer"};
  const std::int64_t layers = stated > 0 ? config.get(count, stated, kLayers) : config.need(count, kLayers);
  if (stated > 0) {
    check_count(words ? *words : *letters, listed.size(), layers);
    listed.resize(static_cast<std::size_t>(layers));
    return listed;
  }
  if (config.family().has(kOnlyRecurrent)) {
    return std::vector<Slot>(static_cast<std::size_t>(layers), Slot{Mix::recurrent, Feed::none});
  }
  if (config.family().has(kParallel)) {
    return std::vector<Slot>(static_cast<std::size_t>(layers), Slot{Mix::parallel, Feed::automatic});
  }
  if (config.has({"attn_type_list"})) return from_numbers(config, {"attn_type_list"}, layers, Mix::recurrent, Mix::full);
  if (config.has({"hybrid_layer_pattern"})) {
    return from_numbers(config, {"hybrid_layer_pattern"}, layers, Mix::full, Mix::sliding);
  }
  if (const Node* blocks = config.find({"block_configs"})) return from_blocks(*blocks, layers);
  if (config.has({"linear_attn_config.full_attn_layers"})) {
    return from_listed_attention(config.integers({"linear_attn_config.full_attn_layers"}, {0, kMaxLayers}), layers, 1);
  }
  if (config.has({"attn_layer_indices"})) {
    return from_listed_attention(config.integers({"attn_layer_indices"}, {0, kMaxLayers}), layers, 0);
  }
  if (config.get({"full_attention_interval"}, 0, kSmall) > 0 || config.get({"attn_layer_period"}, 0, kSmall) > 0) {
    return from_period(config, layers);
  }
  if (config.get({"attention_chunk_size"}, 0, kPositionsOrNone) > 0) return from_chunks(config, layers);
  return from_window(config, layers);
}

}  // namespace kvfit::models
