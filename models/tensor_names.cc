#include "models/tensor_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/tensor_inventory.h"

namespace kvfit::models {
namespace {

using std::string_view;

constexpr string_view kExpertsMark = ".experts.";
constexpr std::size_t kMaxDigits = 9;

constexpr std::array<string_view, 11> kVisionParts = {
    "visual",       "vision_tower",     "vision_model", "vision_encoder",          "multi_modal_projector", "mm_projector",
    "embed_vision", "vision_projector", "patch_merger", "vision_language_adapter", "vision_embedder"};
constexpr std::array<string_view, 4> kAudioParts = {"audio_tower", "embed_audio", "audio_encoder", "audio_model"};
constexpr std::array<string_view, 8> kEmbeddingParts = {"embed_tokens",           "wte",   "word_embeddings", "embeddings",
                                                        "embed_tokens_per_layer", "embed", "tok_embeddings",  "embed_in"};
constexpr std::array<string_view, 5> kHeadParts = {"lm_head", "output", "head", "output_layer", "embed_out"};
constexpr std::array<string_view, 7> kRouterParts = {
    "router", "gate", "e_score_correction_bias", "expert_bias", "router_bias", "moe_statics", "wg"};
constexpr std::array<string_view, 4> kAttentionParts = {"self_attn", "attn", "attention", "self_attention"};
constexpr std::array<string_view, 4> kRecurrentParts = {"linear_attn", "mamba", "conv", "linear_attention"};
constexpr std::array<string_view, 5> kMlpParts = {"mlp", "feed_forward", "ffn", "fc1", "fc2"};
constexpr std::array<string_view, 3> kLayerParts = {"layers", "h", "blocks"};

template <std::size_t N>
bool any_of(const std::array<string_view, N>& words, string_view word) {
  for (const string_view each : words) {
    if (each.size() == word.size() && each == word) return true;
  }
  return false;
}

bool is_number(string_view text) {
  return !text.empty() && text.size() <= kMaxDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::int32_t number(string_view text) {
  std::int32_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

// The components of a name between its dots; names deeper than any real one keep their first sixteen.
class Components {
 public:
  explicit Components(string_view name) {
    while (count_ < parts_.size()) {
      const std::size_t dot = name.find('.');
      parts_[count_++] = name.substr(0, dot);
      if (dot == string_view::npos) break;
      name.remove_prefix(dot + 1);
    }
  }
  std::size_t size() const { return count_; }
  string_view operator[](std::size_t i) const { return i < count_ ? parts_[i] : string_view(); }

  template <std::size_t N>
  bool contain(const std::array<string_view, N>& words, std::size_t from = 0) const {
    for (std::size_t i = from; i < count_; ++i) {
      if (any_of(words, parts_[i])) return true;
    }
    return false;
  }
  std::size_t find(string_view word, std::size_t from = 0) const {
    for (std::size_t i = from; i < count_; ++i) {
      if (parts_[i] == word) return i;
    }
    return count_;
  }
  template <class Predicate>
  bool any(std::size_t from, const Predicate& predicate) const {
    return std::any_of(parts_.begin() + static_cast<std::ptrdiff_t>(from),
                       parts_.begin() + static_cast<std::ptrdiff_t>(count_), predicate);
  }

 private:
  std::array<string_view, 16> parts_{};
  std::size_t count_ = 0;
};

bool is_norm(string_view part) {
  return part.find("norm") != string_view::npos || part.starts_with("ln_") || part == "layer_scalar";
}

bool is_shared(string_view part) {
  return part.starts_with("shared_expert") || part.starts_with("share_expert") || part == "shared_mlp";
}

// Stands in for a layer nobody described.
const Layer& layer_at(const std::vector<Layer>& layers, int index) {
  static const Layer kUnknown;
  return index >= 0 && static_cast<std::size_t>(index) < layers.size() ? layers[static_cast<std::size_t>(index)] : kUnknown;
}

bool is_expert(const Components& parts, std::size_t from) {
  const std::size_t experts = parts.find("experts", from);
  if (experts < parts.size()) return parts[experts + 1] != "e_score_correction_bias";
  if (parts.find("switch_mlp", from) < parts.size()) return true;
  if (parts[from] == "moe") return parts[from + 1].ends_with("_proj");
  return parts[from] == "block_sparse_moe" && (parts[from + 1] == "input_linear" || parts[from + 1] == "output_linear");
}

// A block that may hold any mixer (Nemotron-H): the layer says which.
Role mixer_role(const Layer& layer) {
  if (layer.recurrent) return Role::linear_attention;
  if (layer.attention) return Role::attention;
  return layer.dense ? Role::dense_mlp : Role::other;
}

Role role_in_layer(const Components& parts, std::size_t from, const Layer& layer) {
  if (is_expert(parts, from)) return Role::expert;
  if (parts.any(from, is_shared)) return layer.dense && !layer.moe ? Role::dense_mlp : Role::shared_expert;
  if (parts.find("indexer", from) < parts.size()) return Role::indexer;
  if (any_of(kRecurrentParts, parts[from])) return Role::linear_attention;
  if (parts.contain(kAttentionParts, from)) {
    return layer.recurrent && !layer.attention ? Role::linear_attention : Role::attention;
  }
  if (parts.contain(kRouterParts, from)) return Role::router;
  if (parts[from] == "mixer") return mixer_role(layer);
  if (any_of(kMlpParts, parts[from])) return Role::dense_mlp;
  if (parts.contain(kEmbeddingParts, from)) return Role::embedding;
  if (parts.find("head", from) < parts.size()) return Role::head;
  return parts.any(from, is_norm) ? Role::norm : Role::other;
}

Role role_beside_layers(const Components& parts) {
  if (parts.contain(kEmbeddingParts)) return Role::embedding;
  if (parts.contain(kHeadParts)) return Role::head;
  return parts.any(0, is_norm) ? Role::norm : Role::other;
}

// Where "layers.N" stands, or size() when the tensor belongs to no layer.
std::size_t find_layer(const Components& parts) {
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (any_of(kLayerParts, parts[i]) && is_number(parts[i + 1])) return i + 1;
  }
  return parts.size();
}

}  // namespace

std::optional<ExpertNumber> find_expert_number(string_view name) {
  const std::size_t mark = name.find(kExpertsMark);
  if (mark == string_view::npos) return std::nullopt;
  std::size_t begin = mark + kExpertsMark.size();
  for (int i = 0; i < 2; ++i) {  // directly behind "experts", or one component later
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const string_view digits = name.substr(begin, end - begin);
    if (is_number(digits)) return ExpertNumber{begin, end, number(digits)};
    if (end == name.size()) break;
    begin = end + 1;
  }
  return std::nullopt;
}

NameRole role_of(string_view name, const Model& model) {
  NameRole out;
  const Components parts(name);
  for (std::size_t i = 0; i < 3; ++i) {
    if (any_of(kVisionParts, parts[i])) out.role = Role::vision;
    if (any_of(kAudioParts, parts[i])) out.role = Role::audio;
  }
  if (out.role != Role::other) return out;

  const std::size_t at = find_layer(parts);
  if (at < parts.size()) out.layer = number(parts[at]);
  const int trunk = static_cast<int>(model.layers.size());
  bool draft = parts[0] == "mtp" || parts[1] == "mtp" || (model.draft && name.starts_with(model.draft->prefix));
  if (trunk > 0 && out.layer >= trunk) {
    draft = true;
    out.layer -= trunk;
  }
  const std::vector<Layer>& layers = draft && model.draft ? model.draft->layers : model.layers;
  const Role role =
      at < parts.size() ? role_in_layer(parts, at + 1, layer_at(layers, out.layer)) : role_beside_layers(parts);
  out.role = draft ? Role::draft : role;
  out.draft_role = draft ? role : Role::other;
  return out;
}

NameParts classify(string_view tensor_name, const Model& model) {
  const NameRole role = role_of(tensor_name, model);
  NameParts out{role.role, role.draft_role, role.layer, -1, std::string(tensor_name)};
  if (const std::optional<ExpertNumber> found = find_expert_number(tensor_name)) {
    out.expert = found->expert;
    out.pattern.replace(found->begin, found->end - found->begin, "{}");
  }
  return out;
}

}  // namespace kvfit::models
