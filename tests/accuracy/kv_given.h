// Given the printed available KV memory, are tokens, concurrency and blocks what the formulas say? Print rounding hides up
// to half a unit of the last digit, so a range of block counts is possible; one of them must explain every printed figure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planner/kv_capacity.h"
#include "tests/accuracy/observation.h"

namespace kvfit::accuracy {

struct KvComparison {
  bool exact = false;
  double printed = 0, predicted = 0;  ///< of `what`
  std::string what;                   ///< "tokens", "concurrency", "blocks"
  double error_percent() const { return printed != 0 ? 100 * (predicted - printed) / printed : 0; }
};

/// nullopt when the row prints no available memory, or nothing that follows from it.
std::optional<KvComparison> compare_capacity(const planner::KvLayout& layout, const Measured& measured, std::int64_t length,
                                             std::int64_t in_flight);

/// The two numbers of a refusal: memory one request needs, and the estimated maximum length. nullopt when neither is
/// printed.
std::optional<KvComparison> compare_refusal(const planner::KvLayout& layout, const Measured& measured, std::int64_t length,
                                            std::int64_t in_flight);

}  // namespace kvfit::accuracy
