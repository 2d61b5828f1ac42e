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

// {"dtype": "fp8_e4m3", "qscheme": "per_channel", "group_size": 32}. Source: vllm quantization/quark/quark.py.
WeightFormat quark_format(const Node& settings) {
  const Node* list = settings.find("weight");
  const Node& weight = list && list->is_list() && !list->list().empty() ? list->list().front() : settings.at("weight");
  const std::string type = weight.at("dtype").string();
  const Node* scheme = weight.find("qscheme");
  const std::string how = scheme ? scheme->string() : "per_tensor";
  const Node* size = weight.find("group_size");
  const int group = size ? static_cast<int>(size->integer(0, 1 << 16)) : 0;
  WeightFormat out;
  if (type.starts_with("fp4") || type.starts_with("mxfp4")) {
    out = group_format(Format::mxfp4, 4, group ? group : 32);
  } else if (type.starts_with("fp6")) {
    out = packed_format("quark", 6 + 8.0 / (group ? group : 32));
  } else if (type.starts_with("fp8")) {
    out = group_format(how == "per_channel" ? Format::fp8_channel : Format::fp8_tensor, 8, 0);
  } else if (type == "int8") {
    out = group_format(Format::int8, 8, group);
  } else if (type == "int4" || type == "uint4") {
    out = group_format(Format::int4, 4, group);
  } else {
    weight.at("dtype").fail(format("unknown dtype '{}'", type), "known: fp8_e4m3, fp6_e3m2, fp4, int8, int4, uint4");
  }
  out.symmetric = type != "uint4";
  out.activations = settings.has("input_tensors");
  out.layout = "quark";
  return out;
}

}  // namespace

WeightFormat group_format(Format kind, int bits, int group) {
  WeightFormat out;
  out.format = kind;
  out.bits = bits;
  out.group = group;
  return out;
}

WeightFormat fp8_format(const Node& map) {
  const Node* block = map.find("weight_block_size");
  const Node* method = map.find("quant_method");
  const Node* scheme = map.find("activation_scheme");
  WeightFormat out = group_format(Format::fp8_tensor, 8, 0);
  if (method && method->string() == "fbgemm_fp8") out.format = Format::fp8_channel;
  if (block && !block->list().empty()) {
    if (block->list().size() != 2) block->fail("expected two numbers, rows and columns of a block");
    out.format = Format::fp8_block;
    out.block_rows = static_cast<int>(block->list()[0].integer(1, 1 << 16));
    out.block_cols = static_cast<int>(block->list()[1].integer(1, 1 << 16));
  }
  out.static_activations = scheme && scheme->string() == "static";
  out.layout = "fp8";
  return out;
}

void read_quark(const Node& map, Quantization& out, RuleList& rules) {
  rules.exempt_all(map.find("exclude"), Match::module);
  if (const Node* layers = map.find("layer_quant_config"); layers && layers->is_map()) {
    for (const auto& [pattern, settings] : layers->members()) {
      const bool glob = pattern.find('*') != std::string::npos;
      rules.assign(pattern, glob ? Match::glob : Match::module, quark_format(settings));
    }
  }
  const Node& all = map.at("global_quant_config");
  out.base = all.find("weight") ? quark_format(all) : WeightFormat{};
}

}  // namespace kvfit::models
