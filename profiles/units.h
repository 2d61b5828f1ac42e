// Bytes: a signed 64-bit count with checked arithmetic. Tokens and blocks are plain std::int64_t named for what they
// count. GiB (2^30) is for people; machines read integer bytes.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace kvfit::profiles {

/// Throws Error(Fault::input) "number too large" on overflow: the operands came from outside.
std::int64_t checked_add(std::int64_t a, std::int64_t b);
std::int64_t checked_sub(std::int64_t a, std::int64_t b);
std::int64_t checked_mul(std::int64_t a, std::int64_t b);

struct Bytes {
  std::int64_t count = 0;

  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t n) : count(n) {}

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend Bytes operator+(Bytes a, Bytes b) { return Bytes(checked_add(a.count, b.count)); }
  friend Bytes operator-(Bytes a, Bytes b) { return Bytes(checked_sub(a.count, b.count)); }
  friend Bytes operator-(Bytes a) { return Bytes(checked_sub(0, a.count)); }
  friend Bytes operator*(Bytes a, std::int64_t n) { return Bytes(checked_mul(a.count, n)); }
  friend Bytes operator*(std::int64_t n, Bytes a) { return a * n; }
  Bytes& operator+=(Bytes b) { return *this = *this + b; }
  Bytes& operator-=(Bytes b) { return *this = *this - b; }
};

inline constexpr std::int64_t kKiB = std::int64_t{1} << 10;
inline constexpr std::int64_t kMiB = std::int64_t{1} << 20;
inline constexpr std::int64_t kGiB = std::int64_t{1} << 30;

constexpr Bytes mib(std::int64_t n) { return Bytes(n * kMiB); }
constexpr Bytes gib(std::int64_t n) { return Bytes(n * kGiB); }
/// Nearest byte; for values that sources print as decimals ("14.68 GiB").
Bytes from_gib(double gib);
constexpr double to_gib(Bytes b) { return static_cast<double>(b.count) / static_cast<double>(kGiB); }

/// ceil(a / b) for a >= 0, b > 0.
constexpr std::int64_t cdiv(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }
/// a rounded up to a multiple of b, for a >= 0, b > 0.
inline std::int64_t round_up(std::int64_t a, std::int64_t b) { return checked_mul(cdiv(a, b), b); }

/// "14.68 GiB", "-0.16 GiB", "512 MiB" is never used: one unit, two decimals, so columns compare.
std::string gib_text(Bytes b);
/// 841541 -> "841,541".
std::string grouped(std::int64_t n);

}  // namespace kvfit::profiles
