// How each quantised layout stores one matrix of 256 outputs and 512 inputs.
#include "models/weight_layout.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/quantization.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::DType;

constexpr LinearShape kMatrix{.out = 256, .in = 512};

WeightFormat make(Format format, const std::string& layout, int bits, int group = 0) {
  WeightFormat out;
  out.format = format;
  out.layout = layout;
  out.bits = bits;
  out.group = group;
  out.static_activations = true;
  return out;
}

// ".weight U8 [256,256]" and so on, in the order of writing.
std::vector<std::string> stored(const WeightFormat& format, const LinearShape& linear = kMatrix) {
  std::vector<std::string> out;
  for (const StoredTensor& tensor : stored_tensors(format, linear)) {
    out.push_back(profiles::format("{} {} [{}]", tensor.suffix, profiles::safetensors_name(tensor.dtype),
                                   profiles::join(tensor.shape, ",")));
  }
  return out;
}

using Lines = std::vector<std::string>;

TEST_CASE("plain weights: one tensor, or a bare parameter") {
  CHECK(stored(WeightFormat{}) == Lines{".weight BF16 [256,512]"});
  CHECK(stored(WeightFormat{}, {.out = 4, .in = 6, .stack = {3}, .plain = DType::f16, .bare = true}) ==
        Lines{" F16 [3,4,6]"});
}

TEST_CASE("fp8: a scale a matrix, a row or a tile") {
  CHECK(stored(make(Format::fp8_tensor, "modelopt", 8)) ==
        Lines{".weight F8_E4M3 [256,512]", ".weight_scale F32 []", ".input_scale F32 []"});
  CHECK(stored(make(Format::fp8_channel, "float-quantized", 8)) ==
        Lines{".weight F8_E4M3 [256,512]", ".weight_scale BF16 [256,1]"});
  CHECK(stored(make(Format::fp8_channel, "fp8", 8)) == Lines{".weight F8_E4M3 [256,512]", ".weight_scale F32 [256,1]"});
  WeightFormat block = make(Format::fp8_block, "fp8", 8);
  block.block_rows = block.block_cols = 128;
  CHECK(stored(block) == Lines{".weight F8_E4M3 [256,512]", ".weight_scale_inv F32 [2,4]"});
  // A last tile may be partial: 576 = 4.5 x 128.
  CHECK(stored(block, {.out = 576, .in = 7168, .block_scale = DType::bf16}) ==
        Lines{".weight F8_E4M3 [576,7168]", ".weight_scale_inv BF16 [5,56]"});
  block.layout = "compressed-tensors";
  CHECK(stored(block) == Lines{".weight F8_E4M3 [256,512]", ".weight_scale BF16 [2,4]"});
}

TEST_CASE("nvfp4: two values a byte, an e4m3 scale each 16, one fp32 scale") {
  CHECK(stored(make(Format::nvfp4, "modelopt", 4, 16)) ==
        Lines{".weight U8 [256,256]", ".weight_scale F8_E4M3 [256,32]", ".weight_scale_2 F32 []", ".input_scale F32 []"});
  CHECK(stored(make(Format::nvfp4, "nvfp4-pack-quantized", 4, 16)) ==
        Lines{".weight_packed U8 [256,256]", ".weight_scale F8_E4M3 [256,32]", ".weight_global_scale F32 [1]",
              ".input_global_scale F32 [1]"});
  WeightFormat weight_only = make(Format::nvfp4, "modelopt", 4, 16);
  weight_only.activations = false;
  CHECK(stored(weight_only) == Lines{".weight U8 [256,256]", ".weight_scale F8_E4M3 [256,32]", ".weight_scale_2 F32 []"});
}

TEST_CASE("microscaled formats: a power-of-two scale each 32") {
  CHECK(stored(make(Format::mxfp4, "gpt-oss", 4, 32), {.out = 256, .in = 512, .stack = {8}, .bare = true}) ==
        Lines{"_blocks U8 [8,256,16,16]", "_scales U8 [8,256,16]"});
  CHECK(stored(make(Format::mxfp4, "deepseek-v4", 4, 32)) == Lines{".weight I8 [256,256]", ".scale F8_E8M0 [256,16]"});
  CHECK(stored(make(Format::mxfp4, "mxfp4-pack-quantized", 4, 32)) ==
        Lines{".weight_packed U8 [256,256]", ".weight_scale U8 [256,16]"});
  CHECK(stored(make(Format::mxfp8, "modelopt", 8, 32)) == Lines{".weight F8_E4M3 [256,512]", ".weight_scale U8 [256,16]"});
}

TEST_CASE("grouped int4: eight values a word, along inputs (GPTQ, pack-quantized) or outputs (AWQ)") {
  CHECK(stored(make(Format::int4, "awq", 4, 128)) ==
        Lines{".qweight I32 [512,32]", ".qzeros I32 [4,32]", ".scales F16 [4,256]"});
  CHECK(stored(make(Format::int4, "gptq", 4, 128)) ==
        Lines{".qweight I32 [64,256]", ".g_idx I32 [512]", ".qzeros I32 [4,32]", ".scales F16 [4,256]"});
  CHECK(stored(make(Format::int4, "pack-quantized", 4, 32)) ==
        Lines{".weight_packed I32 [256,64]", ".weight_scale BF16 [256,16]", ".weight_shape I64 [2]"});
  WeightFormat asymmetric = make(Format::int4, "pack-quantized", 4, 32);
  asymmetric.symmetric = false;
  asymmetric.act_order = true;
  CHECK(stored(asymmetric) == Lines{".weight_packed I32 [256,64]", ".weight_scale BF16 [256,16]",
                                    ".weight_zero_point I32 [32,16]", ".weight_g_idx I32 [512]", ".weight_shape I64 [2]"});
  CHECK(stored(make(Format::int8, "gptq", 8, 128)).front() == ".qweight I32 [128,256]");
}

TEST_CASE("int8, bitsandbytes, exl3, mlx") {
  CHECK(stored(make(Format::int8, "bitsandbytes", 8)) ==
        Lines{".weight I8 [256,512]", ".SCB F32 [256]", ".weight_format U8 []"});
  CHECK(stored(make(Format::int8, "int-quantized", 8)) ==
        Lines{".weight I8 [256,512]", ".weight_scale BF16 [256,1]", ".input_scale BF16 [1]"});
  // 131,072 values: 65,536 bytes, 2,048 blocks of 64.
  CHECK(stored(make(Format::nf4, "bitsandbytes", 4, 64)) ==
        Lines{".weight U8 [65536,1]", ".weight.absmax F32 [2048]", ".weight.quant_map F32 [16]"});
  CHECK(stored(make(Format::nf4, "bitsandbytes-nested", 4, 64)) ==
        Lines{".weight U8 [65536,1]", ".weight.absmax U8 [2048]", ".weight.nested_absmax F32 [8]",
              ".weight.nested_quant_map F32 [256]", ".weight.quant_map F32 [16]"});
  CHECK(stored(make(Format::exl3, "exl3", 3)) == Lines{".suh F16 [512]", ".svh F16 [256]", ".trellis I16 [32,16,48]"});
  CHECK(stored(make(Format::mlx, "mlx", 4, 64)) ==
        Lines{".weight U32 [256,64]", ".scales BF16 [256,8]", ".biases BF16 [256,8]"});
}

TEST_CASE("what cannot be stored so is refused") {
  const auto refusal = [](const WeightFormat& format, const LinearShape& linear) -> std::string {
    try {
      stored_tensors(format, linear);
    } catch (const profiles::Error& error) {
      return error.text();
    }
    return {};
  };
  CHECK(refusal(make(Format::nvfp4, "modelopt", 4, 16), {.out = 8, .in = 40}) ==
        "error: a nvfp4 weight with 40 values a row does not divide into groups of 16");
  CHECK(refusal(make(Format::other, "aqlm", 2), kMatrix) ==
        "error: how aqlm weights are stored in safetensors is not known\n"
        "  help: give the checkpoint's directory, so that its headers are read");
}

TEST_CASE("a method of fractional bits is one piece of its average size") {
  WeightFormat exl2 = make(Format::other, "exl2", 4);
  exl2.average_bits = 4.25;
  CHECK(stored(exl2) == Lines{".(packed) U8 [69632]"});  // 131,072 x 4.25 / 8
}

}  // namespace
}  // namespace kvfit::models
