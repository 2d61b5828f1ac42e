#include "profiles/units.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "profiles/error.h"

namespace kvfit::profiles {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

template <typename Compute>
std::string error_of(Compute compute) {
  try {
    compute();
  } catch (const Error& error) {
    return error.text();
  }
  return "no error";
}

TEST_CASE("byte arithmetic that overflows is an error, not a wrapped number") {
  const std::string overflow = "error: number too large: the sum does not fit in 64 bits";
  CHECK(error_of([] { return Bytes(kMax) + Bytes(1); }) == overflow);
  CHECK(error_of([] { return Bytes(kMin) - Bytes(1); }) == overflow);
  CHECK(error_of([] { return Bytes(kMax / 2 + 1) * 2; }) == overflow);
  CHECK(error_of([] { return -Bytes(kMin); }) == overflow);
  CHECK(error_of([] { return Bytes(round_up(kMax, 2)); }) == overflow);
  CHECK(error_of([] { return from_gib(1e12); }) == overflow);
  CHECK(error_of([] { return from_gib(std::numeric_limits<double>::quiet_NaN()); }) == overflow);
  CHECK((Bytes(kMax - 1) + Bytes(1)).count == kMax);
}

TEST_CASE("rounding up goes to the next multiple and leaves multiples alone") {
  CHECK(cdiv(0, 16) == 0);
  CHECK(cdiv(1, 16) == 1);
  CHECK(cdiv(16, 16) == 1);
  CHECK(cdiv(17, 16) == 2);
  CHECK(cdiv(kMax, 1) == kMax);
  CHECK(round_up(544, 32) == 544);
  CHECK(round_up(545, 32) == 576);
}

TEST_CASE("sizes print in GiB with two decimals") {
  CHECK(gib_text(gib(24)) == "24.00 GiB");
  CHECK(gib_text(mib(512)) == "0.50 GiB");
  CHECK(gib_text(Bytes(-171798692)) == "-0.16 GiB");  // 0.16 x 2^30 = 171,798,691.84
  CHECK(gib_text(Bytes(1)) == "0.00 GiB");
  CHECK(gib_text(Bytes(-1)) == "0.00 GiB");
  CHECK(from_gib(14.68).count == 15762529976);  // 14.68 x 1,073,741,824 = 15,762,529,976.32
}

TEST_CASE("large counts print with commas") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(841541) == "841,541");
  CHECK(grouped(-1234567) == "-1,234,567");
  CHECK(grouped(-999) == "-999");
  CHECK(grouped(kMin) == "-9,223,372,036,854,775,808");
}

}  // namespace
}  // namespace kvfit::profiles
