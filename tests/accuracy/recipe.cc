#include "tests/accuracy/recipe.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "tests/accuracy/spelling.h"

namespace kvfit::accuracy {

using models::Format;
using models::FormatRule;
using models::Quantization;
using models::WeightFormat;

namespace {

enum class Kind { plain, fp8, int8, int4, nvfp4, mxfp4, nf4, unknown };

struct Wanted {
  std::vector<Kind> kinds;  ///< every format named; the first is the one to lay over the architecture
  bool block = false, dynamic = false, awq = false, gptq = false;
  bool stated = false;  ///< the row says how the weights are stored, "none (bf16)" included
  Kind first() const { return kinds.empty() ? Kind::plain : kinds.front(); }
};

Wanted wanted_of(const std::string& model_text, const std::string& quant_text) {
  const std::string text = lower(model_text + " | " + quant_text);
  const auto says = [&text](std::string_view word) { return contains(text, word); };
  Wanted out;
  out.block = says("block");
  out.dynamic = says("dynamic") || says("online");
  out.awq = says("awq");
  out.gptq = says("gptq") || says("autoround") || says("auto_round") || says("auto-round");
  if (says("exl3") || says("exl2") || says("gguf") || says("mlx")) out.kinds.push_back(Kind::unknown);
  if (says("mxfp4")) out.kinds.push_back(Kind::mxfp4);
  if (says("nvfp4")) out.kinds.push_back(Kind::nvfp4);
  if (says("w8a16") || says("w8a8") || says("int8")) out.kinds.push_back(Kind::int8);
  if (says("unsloth)") || says("nf4") || says("bnb") || says("bitsandbytes")) out.kinds.push_back(Kind::nf4);
  if (says("w4a16") || says("int4") || out.awq || says("gptq") || says("w4a8")) out.kinds.push_back(Kind::int4);
  const bool mixed = says("mixed") && says("nvfp4");  // ModelOpt's mixed exports: experts or MLPs in NVFP4, the rest in fp8
  if (says("fp8") || mixed) out.kinds.push_back(Kind::fp8);
  if (out.kinds.empty() && (says("4-bit") || says("4bit") || says("fp4"))) out.kinds.push_back(Kind::unknown);
  out.stated = !out.kinds.empty() || says("none") || says("bf16") || says("fp16") || says("16-bit");
  return out;
}

Kind kind_of(Format format) {
  switch (format) {
    case Format::plain:
      return Kind::plain;
    case Format::fp8_tensor:
    case Format::fp8_channel:
    case Format::fp8_block:
      return Kind::fp8;
    case Format::int8:
      return Kind::int8;
    case Format::int4:
      return Kind::int4;
    case Format::nvfp4:
      return Kind::nvfp4;
    case Format::mxfp4:
      return Kind::mxfp4;
    case Format::nf4:
      return Kind::nf4;
    default:
      return Kind::unknown;
  }
}

/// Formats other than 16-bit that a checkpoint holds.
std::vector<Kind> kinds_of(const Quantization& quantization) {
  std::vector<Kind> out;
  const auto add = [&out](Format format) {
    if (kind_of(format) != Kind::plain) out.push_back(kind_of(format));
  };
  add(quantization.base.format);
  for (const FormatRule& rule : quantization.rules) {
    if (!rule.exempt) add(rule.format.format);
  }
  return out;
}

WeightFormat format_of(const Wanted& wanted) {
  WeightFormat out;
  switch (wanted.first()) {
    case Kind::fp8:
      out.format = wanted.block ? Format::fp8_block : wanted.dynamic ? Format::fp8_channel : Format::fp8_tensor;
      out.bits = 8;
      if (wanted.block) out.block_rows = out.block_cols = 128;
      out.layout = wanted.dynamic ? "compressed-tensors" : "fp8";
      break;
    case Kind::int8:
      out.format = Format::int8;
      out.bits = 8;
      out.layout = "compressed-tensors";
      break;
    case Kind::int4:
      out.format = Format::int4;
      out.bits = 4;
      out.group = 128;
      out.activations = false;
      out.symmetric = !wanted.awq;
      out.layout = wanted.awq ? "awq" : wanted.gptq ? "gptq" : "pack-quantized";
      break;
    case Kind::nvfp4:
      out.format = Format::nvfp4;
      out.bits = 4;
      out.group = 16;
      out.layout = "modelopt";
      break;
    case Kind::mxfp4:
      out.format = Format::mxfp4;
      out.bits = 4;
      out.group = 32;
      out.layout = "mxfp4";
      break;
    case Kind::nf4:
      out.format = Format::nf4;
      out.bits = 4;
      out.group = 64;
      out.activations = false;
      out.layout = "bitsandbytes";
      break;
    case Kind::plain:
    case Kind::unknown:
      break;
  }
  return out;
}

std::string method_of(const WeightFormat& format) {
  if (format.layout == "modelopt" || format.layout == "awq" || format.layout == "gptq" || format.layout == "fp8")
    return format.layout;
  return format.layout == "bitsandbytes" || format.layout == "mxfp4" ? format.layout : "compressed-tensors";
}

/// What every recipe leaves in 16 bits: ends of the model, towers, routers, drafters and narrow projections.
std::vector<FormatRule> exemptions(bool draft) {
  std::vector<FormatRule> rules;
  const auto exempt = [&rules](FormatRule::Match match, std::string_view pattern) {
    FormatRule rule;
    rule.match = match;
    rule.pattern = pattern;
    rule.exempt = true;
    rules.push_back(std::move(rule));
  };
  for (const std::string_view part : {"lm_head", "embed_tokens", "visual", "vision", "multi_modal", "audio"}) {
    exempt(FormatRule::Match::contains, part);
  }
  if (draft) exempt(FormatRule::Match::contains, "mtp");
  for (const std::string_view module :
       {"gate", "router", "shared_expert_gate", "in_proj_a", "in_proj_b", "in_proj_ba", "conv1d"}) {
    exempt(FormatRule::Match::module, module);
  }
  return rules;
}

bool plain_dense(const models::Model& model) {
  return std::none_of(model.layers.begin(), model.layers.end(),
                      [](const models::Layer& layer) { return layer.recurrent.has_value() || layer.moe.has_value(); });
}

}  // namespace

double format_agreement(const models::Model& entry, const std::string& model_text, const std::string& quant_text) {
  const Wanted wanted = wanted_of(model_text, quant_text);
  const std::vector<Kind> have = kinds_of(entry.quantization);
  std::set<Kind> both;
  std::set<Kind> all(have.begin(), have.end());
  for (const Kind kind : wanted.kinds) {
    if (all.contains(kind)) both.insert(kind);
  }
  all.insert(wanted.kinds.begin(), wanted.kinds.end());
  return all.empty() ? 1 : static_cast<double>(both.size()) / static_cast<double>(all.size());
}

std::optional<Quantization> reformatted(const Quantization& like, const std::string& model_text,
                                        const std::string& quant_text) {
  const Wanted wanted = wanted_of(model_text, quant_text);
  const bool floating = wanted.first() == Kind::fp8 || wanted.first() == Kind::nvfp4;
  const std::vector<Kind> have = kinds_of(like);
  const auto is_float = [](Kind kind) { return kind == Kind::fp8 || kind == Kind::nvfp4 || kind == Kind::mxfp4; };
  if (!floating || have.empty() || !std::all_of(have.begin(), have.end(), is_float)) return std::nullopt;
  Quantization out = like;
  const WeightFormat format = format_of(wanted);
  out.method = method_of(format);
  if (out.base.format != Format::plain) out.base = format;
  for (FormatRule& rule : out.rules) {
    if (!rule.exempt && rule.format.format != Format::plain) rule.format = format;
  }
  return out;
}

Recipe recipe_of(const models::Model& entry, bool exact, const std::string& model_text, const std::string& quant_text) {
  const Wanted wanted = wanted_of(model_text, quant_text);
  const std::vector<Kind> have = kinds_of(entry.quantization);
  const auto stored = [&have, exact](Kind kind) {
    // Two checkpoints of a format whose bytes the words do not give (EXL3 bits ...) need not be alike.
    return (exact || kind != Kind::unknown) && std::find(have.begin(), have.end(), kind) != have.end();
  };
  const bool agree = std::any_of(wanted.kinds.begin(), wanted.kinds.end(), stored);
  Recipe out;
  out.quantization = entry.quantization;
  out.stated = wanted.stated || contains(model_text, "/");
  out.known = exact && out.stated;
  // A like-named checkpoint of the same format may exempt other layers.
  if (agree || (exact && !have.empty())) return out;
  if (wanted.kinds.empty()) {
    if (wanted.stated && !have.empty()) out.quantization = Quantization{};
    out.known = wanted.stated || (out.stated && have.empty());
    return out;
  }
  out.known = false;
  out.priced = wanted.first() != Kind::unknown;
  if (!out.priced) return out;
  out.quantization = Quantization{};
  out.quantization.base = format_of(wanted);
  out.quantization.method = method_of(out.quantization.base);
  // Rounding tools walk over every linear layer, the drafter's too; vendors' exports leave it in 16 bits.
  out.quantization.rules = exemptions(out.quantization.base.layout != "gptq");
  // Dense language models leave only head and embedding; others differ from publisher to publisher.
  out.known = plain_dense(entry) && wanted.first() != Kind::nvfp4 && wanted.first() != Kind::nf4;
  return out;
}

}  // namespace kvfit::accuracy
