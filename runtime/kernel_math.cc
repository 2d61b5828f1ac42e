#include "runtime/kernel_math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace kvfit::runtime {
namespace {

constexpr std::uint64_t kFirstFactor = 0xFF51AFD7ED558CCD, kSecondFactor = 0xC4CEB9FE1A85EC53;

std::uint64_t mix(std::uint64_t x) {
  x *= kFirstFactor;
  x ^= x >> 32;
  return x * kSecondFactor;
}

}  // namespace

unsigned blocks_for(std::uint64_t words, unsigned words_each) {
  const std::uint64_t per_block = std::uint64_t{kBlockThreads} * words_each;
  return static_cast<unsigned>(std::clamp<std::uint64_t>((words + per_block - 1) / per_block, 1, kMostBlocks));
}

std::uint64_t pattern_first(std::uint64_t seed) { return mix(seed + 1); }

std::uint64_t pattern_sum(std::uint64_t first, std::uint64_t step, std::uint64_t words) {
  // One of words and words - 1 is even: halve that one, so that the division is exact.
  const std::uint64_t even = words % 2 == 0 ? words : words - 1;
  const std::uint64_t odd = words % 2 == 0 ? words - 1 : words;
  return words * first + step * (even / 2 * odd);
}

std::uint64_t hash_words(std::string_view bytes, std::uint64_t base) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
    sum += mix(word ^ (base++ * kPatternStep));
  }
  return sum;
}

float decode_e2m1(unsigned code) {
  const float magnitude = std::bit_cast<float>((code & 7U) << 22) * std::bit_cast<float>(0x7E800000U);  // times 2^126
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | (code & 8U) << 28);
}

float decode_e4m3(unsigned code) {
  const float magnitude = std::bit_cast<float>((code & 127U) << 20) * std::bit_cast<float>(0x7B800000U);  // times 2^120
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | (code & 128U) << 24);
}

std::vector<float> gemv_nvfp4(const Nvfp4Matrix& matrix, std::span<const float> inputs) {
  const auto byte = [](std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  std::vector<float> out;
  out.reserve(matrix.rows);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    float sum = 0;
    for (std::size_t column = 0; column < matrix.columns; ++column) {
      const std::size_t at = row * matrix.columns + column;
      const float scale = decode_e4m3(byte(matrix.scales, at / 16)) * matrix.global;
      const unsigned pair = byte(matrix.weights, at / 2);
      const float weight = decode_e2m1(at % 2 == 0 ? pair & 15U : pair >> 4) * scale;
      sum = std::fma(weight, inputs[column], sum);
    }
    out.push_back(sum);
  }
  return out;
}

}  // namespace kvfit::runtime
