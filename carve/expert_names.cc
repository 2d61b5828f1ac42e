#include "carve/expert_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "models/tensor_names.h"

namespace kvfit::carve {
namespace {

using std::string_view;

constexpr string_view kMark = ".experts.";
constexpr std::array<string_view, 6> kSwapped = {"gate_proj", "up_proj", "down_proj", "w1", "w2", "w3"};
// Longest first: "gate_up_proj" before "gate_proj".
constexpr std::array<string_view, 8> kStems = {"gate_up_proj", "gate_proj", "down_proj", "up_proj", "w13", "w1", "w2", "w3"};
// What may follow a stem, after "_" or ".".
constexpr std::array<string_view, 25> kRests = {"weight",
                                                "bias",
                                                "blocks",
                                                "scales",
                                                "biases",
                                                "scale",
                                                "packed",
                                                "global_scale",
                                                "scale_inv",
                                                "weight_scale",
                                                "weight_scale_2",
                                                "weight_scale_inv",
                                                "weight_packed",
                                                "weight_global_scale",
                                                "input_scale",
                                                "input_global_scale",
                                                "weight_zero_point",
                                                "zero_point",
                                                "qweight",
                                                "qzeros",
                                                "g_idx",
                                                "weight_g_idx",
                                                "weight_bias",
                                                "scale_2",
                                                "proj_bias"};
constexpr std::array<string_view, 2> kGranite = {"input_linear", "output_linear"};
constexpr std::array<string_view, 3> kFlattened = {"w1", "v1", "w2"};
constexpr std::array<string_view, 9> kUntouched = {"shared_expert",   "shared_experts",      "shared_expert_gate",
                                                   "share_expert",    "shared_mlp",          "fc1_latent_proj",
                                                   "fc2_latent_proj", "shared_experts_gate", "share_experts"};
constexpr std::array<string_view, 13> kVectors = {"gate.e_score_correction_bias",
                                                  "gate.bias",
                                                  "gate.bias_vl",
                                                  "gate.expert_bias",
                                                  "router.bias",
                                                  "router.e_score_correction_bias",
                                                  "router.expert_bias",
                                                  "router.per_expert_scale",
                                                  "router_bias",
                                                  "expert_bias",
                                                  "e_score_correction_bias",
                                                  "experts.e_score_correction_bias",
                                                  "moe_statics.e_score_correction_bias"};
// Longest first.
constexpr std::array<string_view, 6> kRouters = {"router.proj", "router.layer", "router.gate", "gate.wg", "gate", "router"};
constexpr std::array<string_view, 8> kLayerParts = {
    "self_attn", "attn", "attention", "linear_attn", "mlp", "mamba", "per_layer_input_gate", "per_layer_projection"};

template <std::size_t N>
bool any_of(const std::array<string_view, N>& words, string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

string_view first_part(string_view text) { return text.substr(0, text.find('.')); }

// "gate_up_proj_scales", "gate_up_proj.weight", "gate_up_proj" -> stem and what follows it.
bool split_stem(string_view text, StackName& out) {
  for (const string_view stem : kStems) {
    if (!text.starts_with(stem)) continue;
    const string_view rest = text.substr(stem.size());
    if (!rest.empty() && rest.front() != '_' && rest.front() != '.') continue;
    out.projection = stem;
    out.rest = rest.empty() ? rest : rest.substr(1);
    return out.rest.empty() || any_of(kRests, out.rest);
  }
  return false;
}

}  // namespace

std::optional<ExpertName> parse_expert_name(string_view name) {
  const std::optional<models::ExpertNumber> number = models::find_expert_number(name);
  if (!number || number->end >= name.size() || name[number->end] != '.') return std::nullopt;
  const std::size_t mark = name.rfind(kMark, number->begin);
  if (mark == string_view::npos || mark == 0) return std::nullopt;
  ExpertName out;
  out.prefix = name.substr(0, mark);
  out.digits_begin = number->begin;
  out.digits_end = number->end;
  out.expert = number->expert;
  const string_view between = name.substr(mark + kMark.size(), number->begin - mark - kMark.size());
  const string_view after = name.substr(number->end + 1);
  const string_view digits = name.substr(number->begin, number->end - number->begin);
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;  // "007" could not be written back
  if (between.empty()) {
    const std::size_t dot = after.find('.');
    out.projection = after.substr(0, dot);
    out.rest = dot == string_view::npos ? string_view() : after.substr(dot + 1);
    return out;
  }
  out.swapped = true;
  out.projection = between.substr(0, between.size() - 1);
  out.rest = after;
  return any_of(kSwapped, out.projection) ? std::optional(out) : std::nullopt;
}

std::optional<StackName> parse_stack_name(string_view name) {
  StackName out;
  if (const std::size_t mark = name.find(kMark); mark != string_view::npos && mark > 0) {
    out.prefix = name.substr(0, mark);
    string_view rest = name.substr(mark + kMark.size());
    if (rest.starts_with("mlp.") && any_of(kFlattened, rest.substr(4))) {
      out.flattened = true;
      out.projection = rest.substr(4);
      return out;
    }
    return split_stem(rest, out) ? std::optional(out) : std::nullopt;
  }
  constexpr string_view kSwitch = ".switch_mlp.";
  if (const std::size_t mark = name.find(kSwitch); mark != string_view::npos && mark > 0) {
    out.prefix = name.substr(0, mark);
    return split_stem(name.substr(mark + kSwitch.size()), out) ? std::optional(out) : std::nullopt;
  }
  constexpr string_view kMoe = ".moe.";  // Step-3.5: the block itself holds the stacks
  if (const std::size_t mark = name.find(kMoe); mark != string_view::npos && mark > 0) {
    out.prefix = name.substr(0, mark + kMoe.size() - 1);
    return split_stem(name.substr(mark + kMoe.size()), out) ? std::optional(out) : std::nullopt;
  }
  constexpr string_view kGraniteMark = "block_sparse_moe.";
  if (const std::size_t mark = name.find(kGraniteMark); mark != string_view::npos) {
    out.prefix = name.substr(0, mark + kGraniteMark.size() - 1);
    const string_view rest = name.substr(mark + kGraniteMark.size());
    out.projection = first_part(rest);
    if (!any_of(kGranite, out.projection) || rest.size() == out.projection.size()) return std::nullopt;
    out.rest = rest.substr(out.projection.size() + 1);
    return any_of(kRests, out.rest) ? std::optional(out) : std::nullopt;
  }
  return std::nullopt;
}

bool is_untouched(string_view tail) { return any_of(kUntouched, first_part(tail)); }
bool is_expert_vector(string_view tail) { return any_of(kVectors, tail); }
bool is_correction(string_view tail) {
  return is_expert_vector(tail) && tail != "router.per_expert_scale" && tail != "gate.bias_vl" && tail != "router.bias";
}
bool is_static_table(string_view tail) { return tail.ends_with("tid2eid"); }

string_view router_module(string_view tail) {
  for (const string_view router : kRouters) {
    if (tail.starts_with(router) && tail.size() > router.size() + 1 && tail[router.size()] == '.') return router;
  }
  return {};
}

bool is_layer_part(string_view tail) {
  const string_view first = first_part(tail);
  return any_of(kLayerParts, first) || first.find("norm") != string_view::npos || first == "layer_scalar";
}

bool is_rank_sliced(string_view rest) {
  const std::size_t mark = rest.find("rank");
  return mark != string_view::npos && (mark == 0 || rest[mark - 1] == '.') && mark + 4 < rest.size() &&
         rest[mark + 4] >= '0' && rest[mark + 4] <= '9';
}

}  // namespace kvfit::carve
