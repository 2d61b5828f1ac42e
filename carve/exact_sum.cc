#include "carve/exact_sum.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>

namespace kvfit::carve {
namespace {

// Magnitude in 2^-9 of a code without its sign.
std::int64_t e4m3_units(unsigned code) {
  const std::int64_t exponent = (code >> 3U) & 15U;
  const std::int64_t mantissa = code & 7U;
  return exponent == 0 ? mantissa : (8 + mantissa) << (exponent - 1);
}

}  // namespace

double e4m3_value(unsigned char code) {
  if ((code & 0x7FU) == 0x7FU) return std::numeric_limits<double>::quiet_NaN();
  const double size = static_cast<double>(e4m3_units(code & 0x7FU)) * 0x1p-9;
  return (code & 0x80U) != 0 ? -size : size;
}

void E4m3Histogram::add(std::span<const char> codes) {
  for (const char code : codes) ++codes_[static_cast<unsigned char>(code)];
}

std::int64_t E4m3Histogram::count() const { return std::accumulate(codes_.begin(), codes_.end(), std::int64_t{0}); }

std::int64_t E4m3Histogram::not_positive() const {
  return codes_[0] + std::accumulate(codes_.begin() + 0x80, codes_.begin() + 0xFF, std::int64_t{0});
}

std::int64_t E4m3Histogram::units() const {
  std::int64_t out = 0;
  for (unsigned code = 0; code < 0x7F; ++code) out += (codes_[code] - codes_[code | 0x80U]) * e4m3_units(code);
  return out;
}

void Bf16Squares::add(std::span<const char> values) {
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    const unsigned bits =
        static_cast<unsigned char>(values[i]) | static_cast<unsigned>(static_cast<unsigned char>(values[i + 1])) << 8U;
    const unsigned exponent = (bits >> 7U) & 0xFFU;
    const std::uint64_t significand = (bits & 0x7FU) | (exponent == 0 ? 0U : 0x80U);
    if (exponent == 0xFF) finite_ = false;
    by_exponent_[exponent] += significand * significand;
  }
}

double Bf16Squares::sum() const {
  double out = 0;
  for (int exponent = 0; exponent < 255; ++exponent) {
    const int power = 2 * ((exponent == 0 ? 1 : exponent) - 127 - 7);
    out += std::ldexp(static_cast<double>(by_exponent_[static_cast<std::size_t>(exponent)]), power);
  }
  return out;
}

}  // namespace kvfit::carve
