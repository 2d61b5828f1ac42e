// The larger methods behind read_quantization (quantization_reader.h), each in a file of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/quantization.h"
#include "models/quantization_rules.h"
#include "profiles/document.h"

namespace kvfit::models {

/// A format with `bits` a weight and one scale each `group` inputs.
WeightFormat group_format(Format format, int bits, int group);

/// quantization_average.cc: weights of which only the average bits are known.
WeightFormat packed_format(std::string_view layout, double average_bits);
/// hqq, torchao, aqlm, and methods that name their eight bits; false for any other.
bool read_averaged(const profiles::Node& map, Quantization& out, RuleList& rules);

/// quantization_modelopt.cc: quant_algo, exclude_modules / ignore, quantized_layers (MIXED_PRECISION).
void read_modelopt(const profiles::Node& map, Quantization& out, RuleList& rules, std::vector<std::string>& assumed);
/// One rule for each entry of `quantized_layers`.
void read_quantized_layers(const profiles::Node& map, RuleList& rules);

/// quantization_compressed.cc: config_groups with targets, ignore.
void read_compressed_tensors(const profiles::Node& map, Quantization& out, RuleList& rules,
                             std::vector<std::string>& assumed);

/// quantization_fp8.cc: block, channel or tensor scales.
WeightFormat fp8_format(const profiles::Node& map);
/// AMD Quark: global_quant_config, layer_quant_config, exclude.
void read_quark(const profiles::Node& map, Quantization& out, RuleList& rules);

}  // namespace kvfit::models
