#include "profiles/dtype.h"

#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace kvfit::profiles {
namespace {

TEST_CASE("every element type has one spelling in each world and reads back") {
  std::set<std::string_view> seen;
  for (int i = 0; i <= static_cast<int>(DType::c64); ++i) {
    const DType type = static_cast<DType>(i);
    CHECK(bits(type) > 0);
    CHECK(dtype_from_safetensors(safetensors_name(type)) == type);
    CHECK(dtype_from_torch(torch_name(type)) == type);
    CHECK(seen.insert(safetensors_name(type)).second);
  }
}

TEST_CASE("sizes in bits") {
  CHECK(bits(DType::boolean) == 8);
  CHECK(bits(DType::f4) == 4);
  CHECK(bits(DType::f6_e2m3) == 6);
  CHECK(bits(DType::f8_e4m3) == 8);
  CHECK(bits(DType::bf16) == 16);
  CHECK(bits(DType::f32) == 32);
  CHECK(bits(DType::c64) == 64);
}

TEST_CASE("torch's short names and prefix are understood") {
  CHECK(dtype_from_torch("torch.bfloat16") == DType::bf16);
  CHECK(dtype_from_torch("half") == DType::f16);
  CHECK(dtype_from_torch("float") == DType::f32);
  CHECK(dtype_from_torch("float8_e4m3fn") == DType::f8_e4m3);
}

TEST_CASE("a name of the other world, or of none, is no type") {
  CHECK(dtype_from_safetensors("bfloat16") == std::nullopt);
  CHECK(dtype_from_safetensors("bf16") == std::nullopt);
  CHECK(dtype_from_torch("BF16") == std::nullopt);
  CHECK(dtype_from_torch("torch.") == std::nullopt);
  CHECK(dtype_from_torch("") == std::nullopt);
}

}  // namespace
}  // namespace kvfit::profiles
