#include "carve/exact_sum.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>

#include "carve/numbers.h"

namespace kvfit::carve {
namespace {

std::string bf16(std::uint16_t bits) { return {static_cast<char>(bits & 0xFF), static_cast<char>(bits >> 8)}; }

}  // namespace

TEST_CASE("E4M3 codes are the values of the OCP table") {
  // 0x01 = 2^-9; 0x08 = 2^-6, the smallest normal; 0x38 = 1; 0x7E = 448, the largest; the sign bit negates.
  CHECK(e4m3_value(0x01) == 0x1p-9);
  CHECK(e4m3_value(0x08) == 0x1p-6);
  CHECK(e4m3_value(0x38) == 1.0);
  CHECK(e4m3_value(0x7E) == 448.0);
  CHECK(e4m3_value(0xB8) == -1.0);
  CHECK(std::isnan(e4m3_value(0x7F)));
}

TEST_CASE("a histogram sums E4M3 exactly and counts what no quantiser writes") {
  E4m3Histogram histogram;
  const std::array<char, 6> codes = {0x38, 0x38, 0x7E, 0x01, 0x00, static_cast<char>(0x7F)};
  histogram.add(codes);
  // 1 + 1 + 448 + 2^-9 + 0, in 2^-9: 512 + 512 + 229,376 + 1
  CHECK(histogram.units() == 230'401);
  CHECK(histogram.count() == 6);
  CHECK(histogram.not_numbers() == 1);
  CHECK(histogram.not_positive() == 1);
}

TEST_CASE("squares of bfloat16 add up exactly whatever their order") {
  // 1.0 = 0x3F80, 2^-20 = 0x3580, -3 = 0xC040: 1 + 2^-40 + 9
  const std::string values = bf16(0x3F80) + bf16(0x3580) + bf16(0xC040);
  const std::string reversed = bf16(0xC040) + bf16(0x3580) + bf16(0x3F80);
  Bf16Squares a;
  a.add(values);
  Bf16Squares b;
  b.add(reversed);
  CHECK(a.sum() == 10 + 0x1p-40);
  CHECK(a.sum() == b.sum());
  CHECK(a.finite());
  Bf16Squares infinite;
  infinite.add(bf16(0x7F80));
  CHECK_FALSE(infinite.finite());
}

TEST_CASE("a compensated sum keeps what a plain one loses") {
  CompensatedSum sum;
  for (const double v : {1.0, 1e100, 1.0, -1e100}) sum.add(v);
  CHECK(sum.value() == 2.0);
}

TEST_CASE("FP4 packs the low half first") {
  std::vector<double> out;
  const std::array<char, 2> bytes = {0x21, static_cast<char>(0xF7)};  // 0.5, 1; 6, -6
  decode_fp4(bytes, out);
  CHECK(out == std::vector<double>{0.5, 1, 6, -6});
}

}  // namespace kvfit::carve
