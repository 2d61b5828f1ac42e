// compressed-tensors (llm-compressor): groups of targets with one scheme each. Source: compressed-tensors
// quantization/quant_args.py and quant_config.py; vllm .../compressed_tensors/compressed_tensors.py.
#include <cstdint>
#include <string>
#include <vector>

#include "models/quantization_parts.h"
#include "models/quantization_rules.h"
#include "profiles/document.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::format;
using profiles::Node;
using Match = FormatRule::Match;

std::string word(const Node& map, const char* key) {
  const Node* node = map.find(key);
  return node && node->is_string() ? node->string() : "";
}

WeightFormat float_format(const Node& weights, int bits, int group, const std::string& strategy, const std::string& layout) {
  if (bits == 4)
    return group_format(group == 32 || layout.starts_with("mx") ? Format::mxfp4 : Format::nvfp4, 4, group ? group : 16);
  if (layout.starts_with("mx") || (strategy == "group" && group == 32)) return group_format(Format::mxfp8, 8, 32);
  if (strategy == "block") {
    WeightFormat out = group_format(Format::fp8_block, 8, 0);
    out.block_rows = out.block_cols = 128;
    if (const Node* shape = weights.find("block_structure"); shape && shape->is_list() && shape->list().size() == 2) {
      out.block_rows = static_cast<int>(shape->list()[0].integer(1, 1 << 16));
      out.block_cols = static_cast<int>(shape->list()[1].integer(1, 1 << 16));
    }
    return out;
  }
  return group_format(strategy == "channel" ? Format::fp8_channel : Format::fp8_tensor, 8, 0);
}

WeightFormat read_group(const Node& group, const std::string& outer_layout) {
  const Node& weights = group.at("weights");
  const int bits = static_cast<int>(weights.at("num_bits").integer(1, 16));
  const Node* size = weights.find("group_size");
  const std::int64_t inputs = size ? size->integer(-1, 1 << 16) : 0;
  const std::string strategy = word(weights, "strategy");
  const std::string own = word(group, "format");
  const std::string layout = own.empty() ? outer_layout : own;
  WeightFormat out;
  if (word(weights, "type") == "float") {
    out = float_format(weights, bits, inputs > 0 ? static_cast<int>(inputs) : 0, strategy, layout);
  } else {
    const Format kind = bits == 4 ? Format::int4 : bits == 8 ? Format::int8 : Format::other;
    out = group_format(kind, bits, inputs > 0 ? static_cast<int>(inputs) : 0);
    if (kind == Format::other) out.average_bits = bits + (inputs > 0 ? 16.0 / static_cast<double>(inputs) : 0);
  }
  const Node* symmetric = weights.find("symmetric");
  out.symmetric = !symmetric || symmetric->boolean();
  const Node* order = weights.find("actorder");
  out.act_order = order && order->is_string() && (order->string() == "group" || order->string() == "dynamic");
  const Node* activations = group.find("input_activations");
  out.activations = activations != nullptr;
  const Node* dynamic = activations ? activations->find("dynamic") : nullptr;
  // "local": the scale of each group is computed, the tensor's global scale is stored.
  out.static_activations = dynamic && !(dynamic->is_boolean() && dynamic->boolean());
  out.layout = layout;
  return out;
}

}  // namespace

void read_compressed_tensors(const Node& map, Quantization& out, RuleList& rules, std::vector<std::string>& assumed) {
  rules.exempt_all(map.find("ignore"), Match::exact);
  const Node* groups = map.find("config_groups");
  if (!groups || groups->members().empty()) {
    if (word(map, "format") == "dense") {  // 16-bit weights with a quantised cache
      out.base = WeightFormat{};
      return;
    }
    out.base.format = Format::other;
    out.base.layout = "compressed-tensors";
    assumed.push_back("quantization_config names no config_groups: the format of the weights is not known");
    return;
  }
  const std::string layout = word(map, "format");
  if (const Node* sparse = map.find("sparsity_config"); sparse && word(*sparse, "format") == "sparse-24-bitmask")
    assumed.push_back("2:4 sparse weights are priced as if they were dense");
  for (const auto& [name, group] : groups->members()) {
    if (!group.find("weights")) continue;  // activations alone
    const WeightFormat weight = read_group(group, layout);
    const Node* targets = group.find("targets");
    if (!targets || targets->list().empty()) {
      rules.assign("Linear", Match::layer_class, weight);
      continue;
    }
    for (const Node& target : targets->list()) {
      const bool is_class = target.string() == "Linear" || target.string().ends_with("Linear");
      if (is_class) {
        rules.assign(target.string(), Match::layer_class, weight);
      } else {
        rules.assign(target, Match::module, weight);
      }
    }
  }
  out.base = WeightFormat{};
}

}  // namespace kvfit::models
