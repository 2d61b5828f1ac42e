// How each module's weights are stored. A checkpoint names a method and, per module, a scheme or an exemption; a model is
// rarely one format throughout (attention bf16, experts NVFP4, lm_head bf16 ...).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  std::string layout;  ///< "modelopt", "compressed-tensors", "awq", "gptq", "pack-quantized", "fp8", "gpt-oss", "exl3" ...

  friend bool operator==(const WeightFormat&, const WeightFormat&) = default;
};

/// Short name for people, gates and JSON: "bf16", "fp8_block", "nvfp4", "int4_awq" ...
std::string format_name(const WeightFormat& format);

/// One assignment: modules whose name matches `pattern` (glob, "re:" regex or substring, as the method defines) use
/// `format`.
struct FormatRule {
  std::string pattern;
  enum class Match { glob, regex, prefix, suffix, contains, exact, layer_class } match = Match::exact;
  WeightFormat format;
};

struct Quantization {
  std::string method;             ///< quant_method: "", "modelopt", "modelopt_mixed", "compressed-tensors", "fp8", "awq" ...
  WeightFormat base;              ///< for linear modules no rule names
  std::vector<FormatRule> rules;  ///< first match wins
  std::string kv_cache;           ///< format the checkpoint declares for the KV cache ("fp8"), or ""
};

/// The stored format of a linear or expert module, by its checkpoint name ("model.layers.3.self_attn.q_proj").
WeightFormat format_of(const Quantization& quantization, std::string_view module, profiles::DType plain);

}  // namespace kvfit::models
