// The arithmetic of runtime/kernels.ptx in C++: the reference that device results are held against. No part of this needs
// the driver. All sums and products of 64-bit words wrap.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kvfit::runtime {

inline constexpr unsigned kBlockThreads = 256;
inline constexpr unsigned kMostBlocks = 2048;
inline constexpr std::uint64_t kPatternStep = 0x9E3779B97F4A7C15;  ///< odd, so that no word of a region repeats

/// Blocks launched for so many words, `words_each` a thread and step.
unsigned blocks_for(std::uint64_t words, unsigned words_each);

/// What kvfit_fill writes: word i is first + i * kPatternStep. `seed` tells regions apart.
std::uint64_t pattern_first(std::uint64_t seed);
/// Sum of words [0, words) of a pattern, in closed form: words * first + step * words * (words - 1) / 2.
std::uint64_t pattern_sum(std::uint64_t first, std::uint64_t step, std::uint64_t words);

/// What kvfit_hash adds up over words [base, base + size); bytes behind the last whole word count as a word filled with
/// zeros.
std::uint64_t hash_words(std::string_view bytes, std::uint64_t base);

/// e2m1, low four bits of `code`: 0, 0.5, 1, 1.5, 2, 3, 4, 6 with sign.
float decode_e2m1(unsigned code);
/// e4m3 as the kernel reads it; 0x7F and 0xFF, which stand for NaN, come out as 480 and -480.
float decode_e4m3(unsigned code);

/// One NVFP4 matrix: rows x columns/2 bytes of weights, rows x columns/16 bytes of scales. `columns` is a multiple of 16.
struct Nvfp4Matrix {
  std::uint32_t rows = 0, columns = 0;
  std::string_view weights, scales;
  float global = 1;  ///< multiplies every scale
};
/// outputs[row], in the kernel's own order of operations: equal to the device's to the bit.
std::vector<float> gemv_nvfp4(const Nvfp4Matrix& matrix, std::span<const float> inputs);

}  // namespace kvfit::runtime
