// How each module's weights are stored. A checkpoint names a method and, per module, a scheme or an exemption; a model is
// rarely one format throughout (attention bf16, experts NVFP4, lm_head bf16 ...).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/pattern.h"
#include "profiles/dtype.h"

namespace kvfit::models {

enum class Format {
  plain,        ///< the dtype itself (bf16, f16, f32), no scales
  fp8_tensor,   ///< one scale a matrix
  fp8_channel,  ///< one scale an output row
  fp8_block,    ///< one scale a block_rows x block_cols tile
  nvfp4,        ///< 4-bit e2m1, e4m3 scale each `group` inputs, fp32 scale a matrix
  mxfp4,        ///< 4-bit e2m1, e8m0 scale each 32
  mxfp8,        ///< 8-bit, e8m0 scale each 32
  int4,         ///< grouped int4: AWQ, GPTQ, pack-quantized; see `layout`
  int8,         ///< W8A8 or W8A16
  nf4,          ///< bitsandbytes 4-bit
  exl3,         ///< Trellis, `bits` a weight
  gguf,
  mlx,
  other,
};

struct WeightFormat {
  Format format = Format::plain;
  profiles::DType dtype = profiles::DType::bf16;  ///< storage dtype of plain weights
  int bits = 16;                                  ///< per weight
  int group = 0;                                  ///< inputs a scale covers; 0 = whole row or matrix
  int block_rows = 0, block_cols = 0;
  bool symmetric = true;            ///< false: zero points are stored
  bool activations = true;          ///< activations quantised too (W4A4, W8A8); false = weight-only
  bool static_activations = false;  ///< an input_scale tensor is stored
  bool act_order = false;           ///< GPTQ desc_act: g_idx is stored
  double average_bits = 0;          ///< where `bits` is not whole (exl2 4.25); 0 = `bits`
  std::string layout;  ///< "modelopt", "compressed-tensors", "awq", "gptq", "pack-quantized", "fp8", "gpt-oss", "exl3" ...

  friend bool operator==(const WeightFormat&, const WeightFormat&) = default;
};

/// True when the weights are stored as plain `dtype` numbers.
inline bool is_plain(const WeightFormat& format) { return format.format == Format::plain; }

/// Short name for people, gates and JSON: "bf16", "fp8_block", "nvfp4", "int4_awq" ...
std::string format_name(const WeightFormat& format);

/// One assignment: modules whose name matches `pattern` use `format`. Patterns and names are compared in short form (see
/// short_name), with "#" for the layer number: a list that names 92 layers is one rule.
struct FormatRule {
  /// glob: * and ?; regex: Python syntax, anchored at the start; module: the whole of some dotted parts ("gate" names
  /// "mlp.gate", not "gate_proj"); exact: the name; contains: anywhere; layer_class: "Linear", every linear module
  enum class Match { glob, regex, module, exact, contains, layer_class } match = Match::module;
  std::string pattern;
  std::shared_ptr<const Regex> regex;  ///< of Match::regex, compiled
  std::vector<int> layers;             ///< sorted; the rule holds for these layers only; empty = all
  bool exempt = false;                 ///< not quantised: stored in the model's dtype
  WeightFormat format;                 ///< when not exempt
};

struct Quantization {
  std::string method;             ///< quant_method: "", "modelopt", "modelopt_mixed", "compressed-tensors", "fp8", "awq" ...
  WeightFormat base;              ///< for linear modules no rule names
  std::vector<FormatRule> rules;  ///< first match wins, exemptions first
  std::string kv_cache;           ///< format the checkpoint declares for the KV cache ("fp8"), or ""
};

/// A module's name without the wrappers that differ between exports: "model.language_model.layers.3.mlp.up_proj",
/// "language_model.model.layers.3.mlp.up_proj" and "model.layers.3.mlp.up_proj" are all "layers.3.mlp.up_proj".
std::string_view short_name(std::string_view module);

/// The stored format of a linear or expert module, by its checkpoint name ("model.layers.3.self_attn.q_proj").
WeightFormat format_of(const Quantization& quantization, std::string_view module, profiles::DType plain);

}  // namespace kvfit::models
