#include "profiles/dtype.h"

#include <array>
#include <optional>
#include <string_view>

namespace kvfit::profiles {
namespace {

struct Row {
  DType type;
  int bits;
  std::string_view safetensors;
  std::string_view torch;
};

// Source: huggingface/safetensors `safetensors/src/tensor.rs` (Dtype), torch dtype names.
constexpr std::array kRows = {
    Row{DType::boolean, 8, "BOOL", "bool"},
    Row{DType::u8, 8, "U8", "uint8"},
    Row{DType::i8, 8, "I8", "int8"},
    Row{DType::u16, 16, "U16", "uint16"},
    Row{DType::i16, 16, "I16", "int16"},
    Row{DType::u32, 32, "U32", "uint32"},
    Row{DType::i32, 32, "I32", "int32"},
    Row{DType::u64, 64, "U64", "uint64"},
    Row{DType::i64, 64, "I64", "int64"},
    Row{DType::f8_e4m3, 8, "F8_E4M3", "float8_e4m3fn"},
    Row{DType::f8_e5m2, 8, "F8_E5M2", "float8_e5m2"},
    Row{DType::f8_e8m0, 8, "F8_E8M0", "float8_e8m0fnu"},
    Row{DType::f16, 16, "F16", "float16"},
    Row{DType::bf16, 16, "BF16", "bfloat16"},
    Row{DType::f32, 32, "F32", "float32"},
    Row{DType::f64, 64, "F64", "float64"},
    Row{DType::f4, 4, "F4", "float4_e2m1fn_x2"},
    Row{DType::f6_e2m3, 6, "F6_E2M3", "float6_e2m3fn"},
    Row{DType::f6_e3m2, 6, "F6_E3M2", "float6_e3m2fn"},
    Row{DType::c64, 64, "C64", "complex64"},
};

const Row& row(DType type) {
  for (const Row& r : kRows) {
    if (r.type == type) return r;
  }
  return kRows.front();  // unreachable: every enumerator has a row, checked by tests
}

}  // namespace

int bits(DType type) { return row(type).bits; }

std::optional<DType> dtype_from_safetensors(std::string_view name) {
  for (const Row& r : kRows) {
    if (r.safetensors == name) return r.type;
  }
  return std::nullopt;
}

std::string_view safetensors_name(DType type) { return row(type).safetensors; }

std::optional<DType> dtype_from_torch(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  if (name == "half" || name == "fp16") return DType::f16;
  if (name == "float" || name == "fp32") return DType::f32;
  if (name == "bf16") return DType::bf16;
  for (const Row& r : kRows) {
    if (r.torch == name) return r.type;
  }
  return std::nullopt;
}

std::string_view torch_name(DType type) { return row(type).torch; }

}  // namespace kvfit::profiles
