// Given the printed available memory: compares a row's capacity or refusal numbers with the formulas, and where the row
// leaves arguments open looks for the values that explain the print.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/accuracy/kv_given.h"
#include "tests/accuracy/question.h"

namespace kvfit::accuracy {

/// The cache layout of the first stage and what capacity needs beside it.
struct Capacity {
  planner::KvLayout layout;
  std::int64_t length = 0, in_flight = 0, sequences = 0;
};
/// Throws profiles::Error when settings contradict each other or the engine would refuse.
Capacity capacity_of(const planner::Question& question);

struct Solved {
  KvComparison comparison;
  std::vector<std::string> choices;  ///< open arguments that were set to explain the print; empty: the defaults did
};

using Comparer = std::function<std::optional<KvComparison>(const Capacity&)>;
/// Defaults first, then one, two ... open arguments changed; the first that is exact, else the defaults' comparison.
/// nullopt when the row prints nothing to compare.
std::optional<Solved> solve(const Library& library, const Observation& row, const Case& stated, const Comparer& compare);

}  // namespace kvfit::accuracy
