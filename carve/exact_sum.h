// Sums whose result does not depend on order, blocks or threads: integers where the number format allows it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace kvfit::carve {

/// E4M3 values (OCP FP8, "fn": no infinities, 0x7F and 0xFF are NaN) are whole multiples of 2^-9, at most 229,376 of them.
double e4m3_value(unsigned char code);

/// Counts codes, so 2^32 values and more are summed exactly.
class E4m3Histogram {
 public:
  void add(std::span<const char> codes);
  std::int64_t count() const;
  std::int64_t not_numbers() const { return codes_[0x7F] + codes_[0xFF]; }
  std::int64_t not_positive() const;  ///< zeros and negatives, which no quantiser writes as a scale
  std::int64_t units() const;         ///< sum in 2^-9; NaN counts as nothing
  double sum() const { return static_cast<double>(units()) * 0x1p-9; }

 private:
  std::array<std::int64_t, 256> codes_{};
};

/// Sum of squares of bfloat16 values, exact: one integer an exponent, added from small to large at the end.
class Bf16Squares {
 public:
  void add(std::span<const char> values);  ///< little-endian pairs of bytes
  bool finite() const { return finite_; }
  double sum() const;

 private:
  std::array<std::uint64_t, 256> by_exponent_{};
  bool finite_ = true;
};

/// Neumaier's compensated sum, in the order given.
class CompensatedSum {
 public:
  void add(double value) {
    const double next = sum_ + value;
    lost_ += (sum_ < 0 ? -sum_ : sum_) >= (value < 0 ? -value : value) ? (sum_ - next) + value : (value - next) + sum_;
    sum_ = next;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0, lost_ = 0;
};

}  // namespace kvfit::carve
