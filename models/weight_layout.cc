#include "models/weight_layout.h"

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::models {
namespace {

using profiles::cdiv;
using profiles::DType;
using profiles::fail_input;

constexpr std::int64_t kInt32Bits = 32;
constexpr std::int64_t kTrellisTile = 16;

// Collects the tensors of one module; the leading extents of a stack go before every shape.
class Parts {
 public:
  explicit Parts(const LinearShape& linear) : linear_(linear) {}

  void add(std::string_view suffix, DType dtype, std::initializer_list<std::int64_t> shape) {
    std::vector<std::int64_t> extents = linear_.stack;
    extents.insert(extents.end(), shape);
    parts_.push_back({suffix, dtype, std::move(extents)});
  }
  std::vector<StoredTensor> take() { return std::move(parts_); }

 private:
  const LinearShape& linear_;
  std::vector<StoredTensor> parts_;
};

std::int64_t divided(std::int64_t extent, std::int64_t by, const WeightFormat& format) {
  if (by <= 0 || extent % by != 0) {
    fail_input(profiles::format("a {} weight with {} values a row does not divide into groups of {}", format_name(format),
                                extent, by));
  }
  return extent / by;
}

// compressed-tensors names its layouts "pack-quantized", "nvfp4-pack-quantized", "float-quantized" and so on.
bool is_compressed(const WeightFormat& format) {
  return format.layout.ends_with("-quantized") || format.layout == "compressed-tensors" ||
         format.layout == "mixed-precision";
}

std::int64_t groups(const WeightFormat& format, const LinearShape& linear) {
  return format.group > 0 ? cdiv(linear.in, format.group) : 1;
}

void add_fp8(const WeightFormat& format, const LinearShape& linear, Parts& parts) {
  parts.add(".weight", DType::f8_e4m3, {linear.out, linear.in});
  const bool compressed = is_compressed(format);
  const DType scale = compressed ? linear.plain : DType::f32;
  if (format.format == Format::fp8_block) {
    const std::int64_t rows = cdiv(linear.out, format.block_rows > 0 ? format.block_rows : linear.out);
    const std::int64_t columns = cdiv(linear.in, format.block_cols > 0 ? format.block_cols : linear.in);
    if (format.layout == "fp8") {
      parts.add(linear.block_scale_name, linear.block_scale, {rows, columns});
    } else if (format.layout == "modelopt") {
      parts.add(".weight_scale", DType::f32, {rows, 1, columns, 1});
    } else {
      parts.add(".weight_scale", scale, {rows, columns});
    }
  } else if (format.format == Format::fp8_channel) {
    parts.add(".weight_scale", scale, {linear.out, 1});
  } else if (compressed) {
    parts.add(".weight_scale", scale, {1});
    if (format.static_activations) parts.add(".input_scale", scale, {1});
  } else if (format.layout == "fp8" && !format.static_activations) {
    parts.add(linear.block_scale_name, linear.block_scale, {});
  } else {
    parts.add(".weight_scale", DType::f32, {});
    if (format.static_activations) parts.add(".input_scale", DType::f32, {});
  }
}

void add_nvfp4(const WeightFormat& format, const LinearShape& linear, Parts& parts) {
  const std::int64_t packed = divided(linear.in, 2, format);
  const std::int64_t scales = divided(linear.in, format.group > 0 ? format.group : 16, format);
  if (is_compressed(format)) {
    parts.add(".weight_packed", DType::u8, {linear.out, packed});
    parts.add(".weight_scale", DType::f8_e4m3, {linear.out, scales});
    parts.add(".weight_global_scale", DType::f32, {1});
    if (format.activations) parts.add(".input_global_scale", DType::f32, {1});
  } else {
    parts.add(".weight", DType::u8, {linear.out, packed});
    parts.add(".weight_scale", DType::f8_e4m3, {linear.out, scales});
    parts.add(".weight_scale_2", DType::f32, {});
    if (format.activations) parts.add(".input_scale", DType::f32, {});
  }
}

void add_microscaled(const WeightFormat& format, const LinearShape& linear, Parts& parts) {
  const std::int64_t group = format.group > 0 ? format.group : 32;
  const std::int64_t scales = divided(linear.in, group, format);
  if (format.format == Format::mxfp8) {
    parts.add(".weight", DType::f8_e4m3, {linear.out, linear.in});
    parts.add(".weight_scale", DType::u8, {linear.out, scales});
  } else if (format.layout == "gpt-oss") {
    parts.add("_blocks", DType::u8, {linear.out, scales, group / 2});
    parts.add("_scales", DType::u8, {linear.out, scales});
  } else if (format.layout == "deepseek-v4") {
    parts.add(".weight", DType::i8, {linear.out, divided(linear.in, 2, format)});
    parts.add(".scale", DType::f8_e8m0, {linear.out, scales});
  } else {
    parts.add(is_compressed(format) ? ".weight_packed" : ".weight", DType::u8, {linear.out, divided(linear.in, 2, format)});
    parts.add(".weight_scale", DType::u8, {linear.out, scales});
  }
}

// compressed-tensors pack-quantized: nibbles in int32 along the inputs, zero points packed along the outputs.
void add_pack_quantized(const WeightFormat& format, const LinearShape& linear, Parts& parts) {
  const std::int64_t per_word = kInt32Bits / format.bits;
  parts.add(".weight_packed", DType::i32, {linear.out, cdiv(linear.in, per_word)});
  parts.add(".weight_scale", linear.plain, {linear.out, groups(format, linear)});
  if (!format.symmetric) parts.add(".weight_zero_point", DType::i32, {cdiv(linear.out, per_word), groups(format, linear)});
  if (format.act_order) parts.add(".weight_g_idx", DType::i32, {linear.in});
  parts.add(".weight_shape", DType::i64, {2});
}

void add_int4(const WeightFormat& format, const LinearShape& linear, Parts& parts) {
  if (is_compressed(format)) {
    return add_pack_quantized(format, linear, parts);
  }
  const std::int64_t per_word = kInt32Bits / format.bits;
  const std::int64_t out_words = cdiv(linear.out, per_word);
  if (format.layout == "awq") {
    parts.add(".qweight", DType::i32, {linear.in, out_words});
  } else {
    parts.add(".qweight", DType::i32, {cdiv(linear.in, per_word), linear.out});
    parts.add(".g_idx", DType::i32, {linear.in});
  }
  parts.add(".qzeros", DType::i32, {groups(format, linear), out_words});
  parts.add(".scales", DType::f16, {groups(format, linear), linear.out});
}

void add_int8(const WeightFormat& format, const LinearShape& linear, Parts& parts) {
  if (format.layout == "gptq" || format.layout == "awq" || format.layout == "pack-quantized") {
    return add_int4(format, linear, parts);
  }
  parts.add(".weight", DType::i8, {linear.out, linear.in});
  if (format.layout.starts_with("bitsandbytes")) {
    parts.add(".SCB", DType::f32, {linear.out});
    parts.add(".weight_format", DType::u8, {});
  } else {
    parts.add(".weight_scale", linear.plain, {linear.out, groups(format, linear)});
    if (format.static_activations) parts.add(".input_scale", linear.plain, {1});
  }
}

// bitsandbytes nf4 with double quantisation, as transformers saves it: blocks of 64 values, of which 256 share a scale.
void add_nf4(const WeightFormat& format, const LinearShape& linear, Parts& parts) {
  const std::int64_t values = profiles::checked_mul(linear.out, linear.in);
  const std::int64_t blocks = cdiv(values, 64);
  parts.add(".weight", DType::u8, {cdiv(values, 2), 1});
  const bool nested = format.layout == "bitsandbytes-nested";
  parts.add(".weight.absmax", nested ? DType::u8 : DType::f32, {blocks});
  if (nested) {
    parts.add(".weight.nested_absmax", DType::f32, {cdiv(blocks, 256)});
    parts.add(".weight.nested_quant_map", DType::f32, {256});
  }
  parts.add(".weight.quant_map", DType::f32, {16});
}

void add_exl3(const WeightFormat& format, const LinearShape& linear, Parts& parts) {
  if (format.bits == 0) {
    fail_input("which experts have which tier of a mixed EXL3 checkpoint is not in its config", {},
               "give the checkpoint's directory, so that its headers are read");
  }
  parts.add(".suh", DType::f16, {linear.in});
  parts.add(".svh", DType::f16, {linear.out});
  parts.add(
      ".trellis", DType::i16,
      {divided(linear.in, kTrellisTile, format), divided(linear.out, kTrellisTile, format), kTrellisTile * format.bits});
}

void add_mlx(const WeightFormat& format, const LinearShape& linear, Parts& parts) {
  parts.add(".weight", DType::u32, {linear.out, divided(linear.in * format.bits, kInt32Bits, format)});
  parts.add(".scales", linear.plain, {linear.out, groups(format, linear)});
  parts.add(".biases", linear.plain, {linear.out, groups(format, linear)});
}

// A method of mixed precision whose tensors are not modelled (exl2): its average bits a weight, in one piece.
void add_packed(const WeightFormat& format, const LinearShape& linear, Parts& parts) {
  const double bits = format.average_bits * static_cast<double>(profiles::checked_mul(linear.out, linear.in));
  parts.add(".(packed)", DType::u8, {static_cast<std::int64_t>(std::ceil(bits / 8))});
}

}  // namespace

std::vector<StoredTensor> stored_tensors(const WeightFormat& format, const LinearShape& linear) {
  Parts parts(linear);
  switch (format.format) {
    case Format::plain:
      parts.add(linear.bare ? "" : ".weight", linear.plain, {linear.out, linear.in});
      break;
    case Format::fp8_tensor:
    case Format::fp8_channel:
    case Format::fp8_block:
      add_fp8(format, linear, parts);
      break;
    case Format::nvfp4:
      add_nvfp4(format, linear, parts);
      break;
    case Format::mxfp4:
    case Format::mxfp8:
      add_microscaled(format, linear, parts);
      break;
    case Format::int4:
      add_int4(format, linear, parts);
      break;
    case Format::int8:
      add_int8(format, linear, parts);
      break;
    case Format::nf4:
      add_nf4(format, linear, parts);
      break;
    case Format::exl3:
      add_exl3(format, linear, parts);
      break;
    case Format::mlx:
      add_mlx(format, linear, parts);
      break;
    case Format::gguf:
    case Format::other:
      if (format.average_bits > 0) {
        add_packed(format, linear, parts);
        break;
      }
      fail_input(profiles::format("how {} weights are stored in safetensors is not known", format_name(format)), {},
                 "give the checkpoint's directory, so that its headers are read");
  }
  return parts.take();
}

bool stores_kv_scales(const Quantization& quantization) {
  return quantization.kv_cache == "fp8" && quantization.method.starts_with("modelopt");
}

}  // namespace kvfit::models
