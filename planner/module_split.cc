#include "planner/module_split.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace kvfit::planner {
namespace {

using models::Role;
using models::Tensor;

struct Suffix {
  std::string_view name;
  ParamKind kind;
};
constexpr std::array kSuffixes{
    Suffix{"SCB", ParamKind::scale},
    Suffix{"absmax", ParamKind::scale},
    Suffix{"bias", ParamKind::bias},
    Suffix{"biases", ParamKind::zero_point},
    Suffix{"g_idx", ParamKind::order},
    Suffix{"input_global_scale", ParamKind::scale},
    Suffix{"input_scale", ParamKind::scale},
    Suffix{"k_scale", ParamKind::scale},
    Suffix{"nested_absmax", ParamKind::scale},
    Suffix{"nested_quant_map", ParamKind::scale},
    Suffix{"quant_map", ParamKind::scale},
    Suffix{"qweight", ParamKind::weight},
    Suffix{"qzeros", ParamKind::zero_point},
    Suffix{"scale", ParamKind::scale},
    Suffix{"scales", ParamKind::scale},
    Suffix{"suh", ParamKind::scale},
    Suffix{"svh", ParamKind::scale},
    Suffix{"trellis", ParamKind::weight},
    Suffix{"v_scale", ParamKind::scale},
    Suffix{"weight", ParamKind::weight},
    Suffix{"weight_format", ParamKind::order},
    Suffix{"weight_g_idx", ParamKind::order},
    Suffix{"weight_global_scale", ParamKind::scale},
    Suffix{"weight_packed", ParamKind::weight},
    Suffix{"weight_scale", ParamKind::scale},
    Suffix{"weight_scale_2", ParamKind::scale},
    Suffix{"weight_scale_inv", ParamKind::scale},
    Suffix{"weight_shape", ParamKind::order},
    Suffix{"weight_zero_point", ParamKind::zero_point},
};
/// Of stacked expert parameters, which carry no dot: "experts.gate_up_proj_blocks".
constexpr std::array kStackedSuffixes{
    Suffix{"_blocks", ParamKind::weight},
    Suffix{"_scales", ParamKind::scale},
    Suffix{"_bias", ParamKind::bias},
};

struct Module {
  std::string_view name;
  Split split;
  std::string_view fused;  ///< the engine's name when neighbours are fused; empty = stays by itself
};
constexpr std::array kModules{
    Module{"A_log", Split::column, {}},
    Module{"D", Split::column, {}},
    Module{"W_pack", Split::column, {}},
    Module{"Wqkv", Split::column, {}},
    Module{"b_proj", Split::column, {}},
    Module{"c_attn", Split::column, {}},
    Module{"c_fc", Split::column, {}},
    Module{"c_fc_0", Split::column, "gate_up_proj"},
    Module{"c_fc_1", Split::column, "gate_up_proj"},
    Module{"c_proj", Split::row, {}},
    Module{"conv1d", Split::column, {}},
    Module{"dense", Split::row, {}},
    Module{"dense_4h_to_h", Split::row, {}},
    Module{"dense_h_to_4h", Split::column, {}},
    Module{"down_proj", Split::row, {}},
    Module{"dt_bias", Split::column, {}},
    Module{"dt_proj", Split::column, {}},
    Module{"f_b_proj", Split::column, {}},
    Module{"fc", Split::column, {}},
    Module{"fc1", Split::column, {}},
    Module{"fc2", Split::row, {}},
    Module{"g_b_proj", Split::column, {}},
    Module{"g_proj", Split::column, {}},
    Module{"gate_proj", Split::column, "gate_up_proj"},
    Module{"gate_up_proj", Split::column, {}},
    Module{"in_proj", Split::column, {}},
    Module{"in_proj_a", Split::column, "in_proj_ba"},
    Module{"in_proj_b", Split::column, "in_proj_ba"},
    Module{"in_proj_ba", Split::column, {}},
    Module{"in_proj_qkv", Split::column, "in_proj_qkvz"},
    Module{"in_proj_qkvz", Split::column, {}},
    Module{"in_proj_z", Split::column, "in_proj_qkvz"},
    Module{"input_linear", Split::column, {}},
    Module{"k_proj", Split::kv_heads, "qkv_proj"},
    Module{"kv_a_proj_with_mqa", Split::replicated, "fused_qkv_a_proj"},
    Module{"kv_b_proj", Split::column, {}},
    Module{"linear_fc1", Split::column, {}},
    Module{"linear_fc2", Split::row, {}},
    Module{"o_proj", Split::row, {}},
    Module{"out_proj", Split::row, {}},
    Module{"output_gate", Split::column, {}},
    Module{"output_linear", Split::row, {}},
    Module{"proj", Split::row, {}},
    Module{"q_a_proj", Split::replicated, "fused_qkv_a_proj"},
    Module{"q_b_proj", Split::column, {}},
    Module{"q_proj", Split::column, "qkv_proj"},
    Module{"qkv", Split::column, {}},
    Module{"qkv_proj", Split::column, {}},
    Module{"query_key_value", Split::column, {}},
    Module{"sinks", Split::column, {}},
    Module{"up_proj", Split::column, "gate_up_proj"},
    Module{"v1", Split::column, "gate_up_proj"},
    Module{"v_proj", Split::kv_heads, "qkv_proj"},
    Module{"w1", Split::column, "gate_up_proj"},
    Module{"w2", Split::row, {}},
    Module{"w3", Split::column, "gate_up_proj"},
    Module{"wo_a", Split::column, {}},
    Module{"wo_b", Split::row, {}},
    Module{"wq_b", Split::column, {}},
    Module{"x_proj", Split::row, {}},
};

template <typename Row, std::size_t N>
const Row* look_up(const std::array<Row, N>& table, std::string_view name) {
  const auto found = std::ranges::lower_bound(table, name, {}, &Row::name);
  return found != table.end() && found->name == name ? &*found : nullptr;
}
static_assert(std::ranges::is_sorted(kSuffixes, {}, &Suffix::name));
static_assert(std::ranges::is_sorted(kModules, {}, &Module::name));

struct Pieces {
  std::string_view parent, leaf;
  ParamKind kind = ParamKind::weight;
  std::string_view suffix;
};

// "a.b.q_proj.weight" -> parent "a.b", leaf "q_proj", suffix "weight".
Pieces take_apart(std::string_view name) {
  Pieces out;
  out.suffix = "weight";
  const std::size_t dot = name.rfind('.');
  std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
  std::string_view module = name;
  if (const Suffix* suffix = look_up(kSuffixes, last); suffix != nullptr && dot != std::string_view::npos) {
    out.kind = suffix->kind;
    out.suffix = last;
    module = name.substr(0, dot);
    if (module.ends_with(".weight")) module.remove_suffix(7);  // "q_proj.weight.absmax"
  } else {
    for (const Suffix& stacked : kStackedSuffixes) {
      if (name.find(".experts.") == std::string_view::npos || !last.ends_with(stacked.name)) continue;
      out.kind = stacked.kind;
      out.suffix = stacked.name;
      module = name.substr(0, name.size() - stacked.name.size());
    }
  }
  const std::size_t leaf = module.rfind('.');
  out.parent = leaf == std::string_view::npos ? std::string_view{} : module.substr(0, leaf);
  out.leaf = leaf == std::string_view::npos ? module : module.substr(leaf + 1);
  return out;
}

// Roles whose every tensor a rank holds whole, whatever it is called.
bool whole_by_role(Role role) {
  return role == Role::router || role == Role::indexer || role == Role::norm || role == Role::audio;
}

}  // namespace

ParamName engine_parameter(const Tensor& tensor) {
  const Pieces pieces = take_apart(tensor.name);
  const Role role = tensor.role == Role::draft ? tensor.draft_role : tensor.role;
  ParamName out;
  out.kind = pieces.kind;
  std::string_view leaf = pieces.leaf;
  const Module* module = look_up(kModules, pieces.leaf);
  if (role == Role::embedding || role == Role::head) {
    out.split = Split::vocabulary;
  } else if (module != nullptr && !whole_by_role(role)) {
    out.split = module->split;
    if (!module->fused.empty()) leaf = module->fused;
  }
  out.parameter.reserve(tensor.name.size() + 8);
  out.parameter.append(pieces.parent).append(".").append(leaf).append("|").append(pieces.suffix);
  return out;
}

}  // namespace kvfit::planner
