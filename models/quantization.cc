#include "models/quantization.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/module_name.h"
#include "profiles/dtype.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::DType;
using profiles::format;

bool has_parts(std::string_view name, std::string_view pattern) {
  if (pattern.empty()) return false;
  for (std::size_t at = name.find(pattern); at != std::string_view::npos; at = name.find(pattern, at + 1)) {
    const std::size_t end = at + pattern.size();
    if ((at == 0 || name[at - 1] == '.') && (end == name.size() || name[end] == '.')) return true;
  }
  return false;
}

// Exports write the same module with different wrappers in front; a regular expression may count on any of them.
bool regex_matches(const Regex& regex, std::string_view pattern, std::string_view module) {
  if (regex.matches(module)) return true;
  if (pattern.starts_with(".*")) return false;  // whatever stands in front is matched already
  const std::string_view bare = short_name(module);
  if (regex.matches(bare)) return true;
  return regex.matches("model." + std::string(bare)) || regex.matches("model.language_model." + std::string(bare)) ||
         regex.matches("language_model.model." + std::string(bare));
}

bool rule_matches(const FormatRule& rule, const ModuleName& name, std::string_view module) {
  if (!rule.layers.empty() && !std::binary_search(rule.layers.begin(), rule.layers.end(), name.layer)) return false;
  switch (rule.match) {
    case FormatRule::Match::glob:
      return glob_match(rule.pattern, name.text);
    case FormatRule::Match::regex:
      return rule.regex && regex_matches(*rule.regex, rule.pattern, module);
    case FormatRule::Match::module:
      return has_parts(name.text, rule.pattern);
    case FormatRule::Match::exact:
      return name.text == rule.pattern;
    case FormatRule::Match::contains:
      return name.text.find(rule.pattern) != std::string::npos;
    case FormatRule::Match::layer_class:
      return true;
  }
  return false;
}

std::string plain_name(DType dtype) {
  if (dtype == DType::bf16) return "bf16";
  if (dtype == DType::f16) return "f16";
  if (dtype == DType::f32) return "f32";
  return std::string(profiles::torch_name(dtype));
}

}  // namespace

std::string_view short_name(std::string_view module) {
  static constexpr std::string_view kWrappers[] = {
      "model.language_model.model.",
      "language_model.model.",
      "model.language_model.",
      "language_model.",
      "thinker.model.",
      "text_model.",
      "backbone.",
      "transformer.",
      "model.",
  };
  for (const std::string_view wrapper : kWrappers) {
    if (module.starts_with(wrapper) && module.size() > wrapper.size()) return module.substr(wrapper.size());
  }
  return module;
}

ModuleName split_module(std::string_view module) {
  ModuleName out;
  const std::string_view bare = short_name(module);
  out.text.reserve(bare.size());
  bool wants_layer = false, wants_expert = false;
  for (std::size_t start = 0; start <= bare.size();) {
    const std::size_t end = std::min(bare.find('.', start), bare.size());
    const std::string_view part = bare.substr(start, end - start);
    std::size_t digits = 0;
    while (digits < part.size() && std::isdigit(static_cast<unsigned char>(part[digits]))) ++digits;
    if (start > 0) out.text += '.';
    const bool numbered = digits > 0 && digits < 7;
    if (wants_layer && numbered && (digits == part.size() || part[digits] == '*')) {
      out.layer = std::stoi(std::string(part.substr(0, digits)));
      out.open_ended = digits < part.size();
      out.text += '#';
      out.text += part.substr(digits);
    } else if (wants_layer && part == "*") {
      out.text += '#';
    } else if (wants_expert && ((numbered && digits == part.size()) || part == "*")) {
      out.text += '#';
    } else {
      out.text += part;
    }
    wants_layer = out.layer < 0 && (part == "layers" || part == "h" || part == "blocks");
    wants_expert = part == "experts";
    start = end + 1;
  }
  return out;
}

WeightFormat format_of(const Quantization& quantization, std::string_view module, DType plain) {
  WeightFormat unquantised;
  unquantised.dtype = plain;
  unquantised.bits = profiles::bits(plain);
  unquantised.activations = false;
  if (quantization.method.empty()) return unquantised;
  const ModuleName name = split_module(module);
  for (const FormatRule& rule : quantization.rules) {
    if (!rule_matches(rule, name, module)) continue;
    return rule.exempt ? unquantised : rule.format;
  }
  return is_plain(quantization.base) ? unquantised : quantization.base;
}

std::string format_name(const WeightFormat& weight) {
  switch (weight.format) {
    case Format::plain:
      return plain_name(weight.dtype);
    case Format::fp8_tensor:
      return "fp8_tensor";
    case Format::fp8_channel:
      return "fp8_channel";
    case Format::fp8_block:
      return "fp8_block";
    case Format::nvfp4:
      return weight.activations ? "nvfp4" : "nvfp4_w4a16";
    case Format::mxfp4:
      return "mxfp4";
    case Format::mxfp8:
      return "mxfp8";
    case Format::int4:
      return weight.layout.empty() ? "int4" : format("int4_{}", weight.layout);
    case Format::int8:
      return weight.activations ? "int8" : "int8_w8a16";
    case Format::nf4:
      return "nf4";
    case Format::exl3:
      return "exl3";
    case Format::gguf:
      return "gguf";
    case Format::mlx:
      return format("mlx_{}bit", weight.bits);
    case Format::other:
      break;
  }
  return weight.layout.empty() ? "unknown" : weight.layout;
}

}  // namespace kvfit::models
