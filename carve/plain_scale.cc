#include "carve/plain_scale.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "carve/numbers.h"

namespace kvfit::carve {
namespace {

using profiles::DType;

constexpr std::size_t kBlock = 16;

// The largest magnitude as its bits: those of bfloat16 are ordered as the numbers are.
std::int16_t peak_bits(std::span<const char> block) {
  std::array<std::int16_t, kBlock> words{};
  std::memcpy(words.data(), block.data(), block.size());
  std::int16_t out = 0;
  for (const std::int16_t word : words) out = std::max(out, static_cast<std::int16_t>(word & 0x7FFF));
  return out;
}

}  // namespace

bool PlainScale::reads(DType type) { return type == DType::bf16 || type == DType::f16 || type == DType::f32; }

void PlainScale::add_bf16(Sum& sum, std::span<const char> block) {
  const unsigned bits = static_cast<unsigned>(peak_bits(block));
  const unsigned exponent = bits >> 7U;
  sum.finite = sum.finite && exponent != 255;
  sum.by_exponent[std::max(exponent, 1U)] += (bits & 0x7FU) | (exponent == 0 ? 0U : 0x80U);
  ++sum.blocks;
}

void PlainScale::add(std::int32_t expert, DType type, std::int64_t width, std::span<const char> rows) {
  Sum& sum = sums_[static_cast<std::size_t>(expert)];
  const std::size_t row = static_cast<std::size_t>(width * profiles::bits(type) / 8);
  for (std::size_t begin = 0; begin < rows.size(); begin += row) {
    const std::span<const char> one = rows.subspan(begin, row);
    if (type == DType::bf16) {
      for (std::size_t at = 0; at < row; at += 2 * kBlock) add_bf16(sum, one.subspan(at, std::min(2 * kBlock, row - at)));
      continue;
    }
    decode(type, one, scratch_);
    for (std::size_t at = 0; at < scratch_.size(); at += kBlock, ++sum.blocks) {
      double peak = 0;
      for (std::size_t i = at; i < std::min(scratch_.size(), at + kBlock); ++i) {
        sum.finite = sum.finite && std::isfinite(scratch_[i]);
        peak = std::max(peak, std::abs(scratch_[i]));
      }
      sum.rest.add(peak);
    }
  }
}

std::vector<double> PlainScale::means() const {
  std::vector<double> out;
  for (const Sum& sum : sums_) {
    if (sum.blocks == 0) return {};
    double peaks = sum.rest.value();
    for (std::size_t exponent = 1; exponent < sum.by_exponent.size(); ++exponent) {
      peaks += std::ldexp(static_cast<double>(sum.by_exponent[exponent]), static_cast<int>(exponent) - 134);
    }
    out.push_back(sum.finite ? peaks / 6 / static_cast<double>(sum.blocks) : std::numeric_limits<double>::quiet_NaN());
  }
  return out;
}

}  // namespace kvfit::carve
