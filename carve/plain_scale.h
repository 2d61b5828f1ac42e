// What an NVFP4 scale of unquantised experts would be: the mean over blocks of 16 inputs of max|w| / 6. Exact for BF16
// (integers by exponent, whatever the order); F16 and F32 are summed with compensation in the order of the data.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "carve/exact_sum.h"
#include "carve/expert_reader.h"
#include "profiles/dtype.h"

namespace kvfit::carve {

class PlainScale {
 public:
  explicit PlainScale(std::int64_t experts) : sums_(static_cast<std::size_t>(experts)) {}

  /// Whether add() reads a tensor of that dtype: BF16, F16, F32.
  static bool reads(profiles::DType type);

  /// Some rows of `width` values each of one expert's matrix.
  void add(std::int32_t expert, profiles::DType type, std::int64_t width, std::span<const char> rows);

  std::vector<double> means() const;  ///< empty when an expert had nothing to measure; NaN where a weight is not finite

 private:
  struct Sum {
    std::array<std::uint64_t, 256> by_exponent{};  ///< of bfloat16 peaks: their 8-bit significands
    CompensatedSum rest;
    std::int64_t blocks = 0;
    bool finite = true;
  };
  static void add_bf16(Sum& sum, std::span<const char> block);
  std::vector<Sum> sums_;
  std::vector<double> scratch_;
};

}  // namespace kvfit::carve
