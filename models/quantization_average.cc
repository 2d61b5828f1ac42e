// Methods whose tensors are not modelled one by one: what they store is priced by its average bits a weight.
//
// Source: hqq/core/quantize.py and vllm quantization/hqq_marlin.py; torchao/quantization/quant_api.py (class names of
// configurations) and transformers quantizers/quantizer_torchao.py; AQLM: arXiv:2401.06118; vllm quantization/gptq.py.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/quantization_parts.h"
#include "models/quantization_rules.h"
#include "profiles/document.h"
#include "profiles/spelling.h"

namespace kvfit::models {
namespace {

using profiles::Node;
using Match = FormatRule::Match;

constexpr double kScaleBits = 16;

double hqq_bits(const Node& weights) {
  const double bits = static_cast<double>(weights.at("nbits").integer(1, 16));
  const Node* group = weights.find("group_size");
  // A scale and a zero point of 16 bits each group.
  return bits + (group ? 2 * kScaleBits / static_cast<double>(group->integer(1, 1 << 16)) : 0);
}

// One setting for all linear modules, or one for each by its name inside a layer ("self_attn.q_proj").
void read_hqq(const Node& map, Quantization& out, RuleList& rules) {
  const Node& settings = map.at("quant_config");
  if (const Node* all = settings.find("weight_quant_params")) {
    out.base = packed_format("hqq", hqq_bits(*all));
  } else {
    for (const auto& [module, one] : settings.members())
      rules.assign(module, Match::module, packed_format("hqq", hqq_bits(one.at("weight_quant_params"))));
  }
  rules.exempt_all(map.find("skip_modules"), Match::module);
}

// {"default": {"_type": "Int4WeightOnlyConfig", "_data": {"group_size": 128}}} or the older "int4_weight_only".
bool read_torchao(const Node& map, Quantization& out, RuleList& rules) {
  const Node& type = map.at("quant_type");
  const Node* settings = type.is_map() ? type.find("default") : nullptr;
  const Node* name = settings ? settings->find("_type") : &type;
  if (!name || !name->is_string()) return false;
  std::string word = profiles::lower(name->string());
  std::erase(word, '_');
  const Node* data = settings ? settings->find("_data") : map.find("quant_type_kwargs");
  const Node* group = data && data->is_map() ? data->find("group_size") : nullptr;
  const double inputs = group && group->is_integer() ? static_cast<double>(group->integer(1, 1 << 16)) : 128;
  // "Int8DynamicActivationInt4Weight": the weight's type stands last.
  const std::size_t four = word.rfind("int4");
  const std::size_t eight = word.rfind("int8") == std::string::npos ? word.rfind("float8") : word.rfind("int8");
  if (four == std::string::npos && eight == std::string::npos) return false;
  const bool is_four = four != std::string::npos && (eight == std::string::npos || four > eight);
  out.base = packed_format("torchao", is_four ? 4 + 2 * kScaleBits / inputs : 8);
  rules.exempt_all(map.find("modules_to_not_convert"), Match::module);
  return true;
}

// Codebooks of vectors: nbits_per_codebook bits each name in_group_size x out_group_size weights.
void read_aqlm(const Node& map, Quantization& out, RuleList& rules) {
  const Node* outputs = map.find("out_group_size");
  const std::int64_t weights = map.at("in_group_size").integer(1, 1024) * (outputs ? outputs->integer(1, 1024) : 1);
  const std::int64_t bits = map.at("nbits_per_codebook").integer(1, 32) * map.at("num_codebooks").integer(1, 64);
  out.base = packed_format("aqlm", static_cast<double>(bits) / static_cast<double>(weights));
  rules.exempt_all(map.find("linear_weights_not_to_quantize"), Match::module);
}

WeightFormat eight_bits(Format format, std::string_view layout, bool activations) {
  WeightFormat out = group_format(format, 8, format == Format::mxfp8 ? 32 : 0);
  out.activations = activations;
  out.layout = layout;
  return out;
}

}  // namespace

WeightFormat packed_format(std::string_view layout, double average_bits) {
  WeightFormat out = group_format(Format::other, static_cast<int>(average_bits), 0);
  out.average_bits = average_bits;
  out.activations = false;
  out.layout = layout;
  return out;
}

bool read_averaged(const Node& map, Quantization& out, RuleList& rules) {
  const std::string& method = out.method;
  if (method == "hqq") {
    read_hqq(map, out, rules);
  } else if (method == "torchao") {
    if (!read_torchao(map, out, rules)) return false;
  } else if (method == "aqlm") {
    read_aqlm(map, out, rules);
  } else if (method == "eetq") {
    out.base = eight_bits(Format::int8, "eetq", false);
  } else if (method == "w8a8_int8") {
    out.base = eight_bits(Format::int8, "w8a8", true);
  } else if (method == "w8a8_fp8") {
    out.base = eight_bits(Format::fp8_channel, "w8a8", true);
  } else if (method == "mxfp8") {
    out.base = eight_bits(Format::mxfp8, "mxfp8", true);
  } else {
    return false;
  }
  for (const char* key : {"modules_to_not_convert", "ignored_layers", "ignore"})
    rules.exempt_all(map.find(key), Match::module);
  return true;
}

}  // namespace kvfit::models
