#include "carve/numbers.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "carve/exact_sum.h"
#include "profiles/error.h"

namespace kvfit::carve {
namespace {

using profiles::DType;

template <class Word>
Word word_at(std::span<const char> bytes, std::size_t i) {
  Word out = 0;
  std::memcpy(&out, bytes.data() + i * sizeof(Word), sizeof(Word));
  return out;
}

double half_value(std::uint16_t bits) {
  const unsigned exponent = (bits >> 10U) & 31U;
  const unsigned mantissa = bits & 0x3FFU;
  double size = 0;
  if (exponent == 31) {
    size = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    size = std::ldexp(mantissa, -24);
  } else {
    size = std::ldexp(mantissa | 0x400U, static_cast<int>(exponent) - 25);
  }
  return (bits & 0x8000U) != 0 ? -size : size;
}

double e5m2_value(unsigned char code) { return half_value(static_cast<std::uint16_t>(code << 8U)); }
double e8m0_value(unsigned char code) {
  return code == 0xFF ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, int{code} - 127);
}

template <class Word, class Value>
void each(std::span<const char> bytes, std::vector<double>& out, Value value) {
  out.resize(bytes.size() / sizeof(Word));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = value(word_at<Word>(bytes, i));
}

}  // namespace

bool is_number(DType type) {
  switch (type) {
    case DType::bf16:
    case DType::f16:
    case DType::f32:
    case DType::f64:
    case DType::f8_e4m3:
    case DType::f8_e5m2:
    case DType::f8_e8m0:
    case DType::u8:
      return true;
    default:
      return false;
  }
}

void decode(DType type, std::span<const char> bytes, std::vector<double>& out) {
  switch (type) {
    case DType::bf16:
      return each<std::uint16_t>(bytes, out, [](std::uint16_t w) {
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(w) << 16U));
      });
    case DType::f16:
      return each<std::uint16_t>(bytes, out, half_value);
    case DType::f32:
      return each<std::uint32_t>(bytes, out, [](std::uint32_t w) { return static_cast<double>(std::bit_cast<float>(w)); });
    case DType::f64:
      return each<std::uint64_t>(bytes, out, [](std::uint64_t w) { return std::bit_cast<double>(w); });
    case DType::f8_e4m3:
      return each<unsigned char>(bytes, out, e4m3_value);
    case DType::f8_e5m2:
      return each<unsigned char>(bytes, out, e5m2_value);
    case DType::f8_e8m0:
    case DType::u8:
      return each<unsigned char>(bytes, out, e8m0_value);
    default:
      throw profiles::Error(profiles::Fault::bug, "decode() of a dtype that is_number() denies");
  }
}

void decode_fp4(std::span<const char> bytes, std::vector<double>& out) {
  constexpr std::array<double, 16> kValues = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6};
  out.resize(bytes.size() * 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const unsigned char byte = static_cast<unsigned char>(bytes[i]);
    out[2 * i] = kValues[byte & 15U];
    out[2 * i + 1] = kValues[byte >> 4U];
  }
}

}  // namespace kvfit::carve
