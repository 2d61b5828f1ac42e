// Element types as safetensors and Hugging Face configs name them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvfit::profiles {

enum class DType {
  boolean,
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f8_e4m3,
  f8_e5m2,
  f8_e8m0,
  f16,
  bf16,
  f32,
  f64,
  f4,  ///< two values a byte; safetensors "F4"
  f6_e2m3,
  f6_e3m2,
  c64,
};

/// Bits of one element. safetensors allows sub-byte types; a tensor's bits must be a multiple of 8.
int bits(DType type);

/// safetensors spelling: "BF16", "F8_E4M3", "U8", "I64" ... nullopt when unknown.
std::optional<DType> dtype_from_safetensors(std::string_view name);
std::string_view safetensors_name(DType type);

/// Hugging Face / torch spelling: "bfloat16", "torch.float16", "float", "half", "float8_e4m3fn" ...
std::optional<DType> dtype_from_torch(std::string_view name);
std::string_view torch_name(DType type);

}  // namespace kvfit::profiles
