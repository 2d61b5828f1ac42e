// One quantity of one row, predicted against printed; and the verdict of one row against how its start ended.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/plan.h"
#include "tests/accuracy/observation.h"

namespace kvfit::accuracy {

enum class Quantity {
  kv_given_available,  ///< tokens, concurrency and blocks, given the printed available KV: right to print rounding or not
  weights,             ///< "Model loading took", percent
  available_kv_tp1,    ///< GiB, from configuration alone
  available_kv_tp,     ///< the same over two and more ranks
  refusal_numbers,     ///< needed KV and estimated maximum length
  graphs,              ///< CUDA graphs taken, GiB
  activation,          ///< peak activation, GiB
  non_torch,           ///< GiB
};
inline constexpr int kQuantities = 8;
std::string quantity_name(Quantity quantity);
std::string quantity_unit(Quantity quantity);

/// Which groups a row is reported in. `fully_stated` is decided by what the row states (statement.h), the others by where
/// it comes from and what it ran on.
struct Groups {
  bool fully_stated = false, sweep = false, field = false, uma_rocm = false;
};

struct Score {
  Quantity quantity = Quantity::weights;
  double printed = 0, predicted = 0;
  double error = 0;                 ///< predicted - printed, in the quantity's unit
  std::optional<double> bar;        ///< half width of the 90 % bar, same unit
  bool exact = false;               ///< right to print rounding
  std::vector<std::string> solved;  ///< unstated arguments that were solved for, "prefix caching = align"
  std::string detail;               ///< what was compared, for the worst-row column
};

struct Skipped {
  Quantity quantity = Quantity::weights;
  std::string why;
};

/// What the planner said about a start whose end is recorded.
struct VerdictScore {
  planner::Verdict verdict = planner::Verdict::unknown;
  std::string binding;  ///< check that decides
  Outcome recorded = Outcome::unstated;
  bool called = false;       ///< a refusal answered with a no (or, out of memory, with no or tight)
  bool class_named = false;  ///< ... by the check that the engine failed
};

struct RowScore {
  std::string id, file;
  Groups groups;
  std::vector<Score> scores;
  std::vector<Skipped> skipped;
  std::optional<VerdictScore> verdict;
  std::string breakdown;                ///< predicted memory of the first rank, in words
  std::vector<std::string> unstated;    ///< what the row leaves out and was assumed
  std::optional<std::string> unpriced;  ///< set when nothing of the row could be priced: why
};

}  // namespace kvfit::accuracy
