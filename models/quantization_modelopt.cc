// NVIDIA ModelOpt exports. Names of quant_algo: TensorRT-Model-Optimizer modelopt/torch/export/model_config.py;
// reading as vllm model_executor/layers/quantization/modelopt.py.
#include <string>
#include <string_view>
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

struct Algorithm {
  std::string_view name;
  Format format;
  int bits, group;
  bool activations, static_activations;
};
constexpr Algorithm kAlgorithms[] = {
    {"FP8", Format::fp8_tensor, 8, 0, true, true},
    {"FP8_PER_CHANNEL_PER_TOKEN", Format::fp8_channel, 8, 0, true, false},
    {"FP8_PB_WO", Format::fp8_block, 8, 0, true, false},
    {"FP8_PB_REAL", Format::fp8_block, 8, 0, true, false},
    {"NVFP4", Format::nvfp4, 4, 16, true, true},
    {"NVFP4_AWQ", Format::nvfp4, 4, 16, true, true},
    {"NVFP4_SVD", Format::nvfp4, 4, 16, true, true},
    {"W4A4_NVFP4", Format::nvfp4, 4, 16, true, true},
    {"W4A16_NVFP4", Format::nvfp4, 4, 16, false, false},
    {"W4A8_NVFP4_FP8", Format::nvfp4, 4, 16, true, true},
    {"MXFP8", Format::mxfp8, 8, 32, true, false},
    {"MXFP4", Format::mxfp4, 4, 32, true, false},
    {"W4A8_MXFP4_FP8", Format::mxfp4, 4, 32, true, false},
    {"W4A16_AWQ", Format::int4, 4, 128, false, false},
    {"INT4_AWQ", Format::int4, 4, 128, false, false},
    {"W4A8_AWQ", Format::int4, 4, 128, true, true},
    {"W8A8_SQ_PER_CHANNEL", Format::int8, 8, 0, true, false},
    {"W8A16", Format::int8, 8, 0, false, false},
};

WeightFormat read_algorithm(const Node& name, const Node& map) {
  for (const Algorithm& row : kAlgorithms) {
    if (row.name != name.string()) continue;
    WeightFormat out = group_format(row.format, row.bits, row.group);
    if (const Node* group = map.find("group_size"); group && row.group > 0)
      out.group = static_cast<int>(group->integer(1, 1 << 16));
    out.activations = row.activations;
    out.static_activations = row.static_activations;
    if (row.format == Format::fp8_block) out.block_rows = out.block_cols = 128;
    out.layout = "modelopt";
    return out;
  }
  std::string known;
  for (const Algorithm& row : kAlgorithms) known += format("{}{}", known.empty() ? "" : ", ", row.name);
  name.fail(format("unknown quant_algo '{}'", name.string()), "known: " + known + ", MIXED_PRECISION");
}

}  // namespace

void read_quantized_layers(const Node& map, RuleList& rules) {
  const Node* layers = map.find("quantized_layers");
  if (!layers) return;
  for (const auto& [module, settings] : layers->members()) {
    rules.assign(module, Match::module, read_algorithm(settings.at("quant_algo"), settings));
  }
}

void read_modelopt(const Node& map, Quantization& out, RuleList& rules, std::vector<std::string>& assumed) {
  for (const char* key : {"exclude_modules", "ignore", "modules_to_not_convert"})
    rules.exempt_all(map.find(key), Match::module);
  if (!map.find("quant_algo")) return;  // only the KV cache is quantised
  const Node& algorithm = map.at("quant_algo");
  if (algorithm.string() == "MIXED_PRECISION") {
    out.method = "modelopt_mixed";
    read_quantized_layers(map, rules);
    out.base = WeightFormat{};
    return;
  }
  out.base = read_algorithm(algorithm, map);
  if (rules.exempts_anything()) return;
  assumed.push_back("the quantisation block lists no exempt modules: head, routers and draft are assumed unquantised");
  for (const char* name : {"lm_head", "gate", "router", "mtp", "conv1d"}) rules.exempt(name, Match::module);
}

}  // namespace kvfit::models
