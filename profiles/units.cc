#include "profiles/units.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::profiles {
namespace {

[[noreturn]] void overflow() { fail_input("number too large: the sum does not fit in 64 bits"); }

}  // namespace

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) overflow();
  return out;
}

std::int64_t checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_sub_overflow(a, b, &out)) overflow();
  return out;
}

std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) overflow();
  return out;
}

Bytes from_gib(double gib) {
  const double bytes = gib * static_cast<double>(kGiB);
  if (!(std::fabs(bytes) < 9.0e18)) overflow();
  return Bytes(std::llround(bytes));
}

std::string gib_text(Bytes b) {
  const std::string text = format("{:.2f} GiB", to_gib(b));
  return text == "-0.00 GiB" ? text.substr(1) : text;
}

std::string grouped(std::int64_t n) {
  std::string digits = std::to_string(n);
  const std::size_t first = n < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

}  // namespace kvfit::profiles
