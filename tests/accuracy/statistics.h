// From scores to the table's numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/accuracy/score.h"

namespace kvfit::accuracy {

struct Summary {
  int n = 0, unpriced = 0;
  double mean = 0, median_abs = 0, p90_abs = 0;
  double exact = 0;                ///< share of n right to print rounding
  std::optional<double> coverage;  ///< share of rows with a bar whose bar holds the printed value
  int barred = 0;                  ///< rows with a bar
  std::string worst_id;
  double worst = 0;  ///< its error
};

/// Median: mean of the two middle ones; p90: nearest rank, so that 90 % of rows are at or below it.
double median(std::vector<double> values);
double percentile(std::vector<double> values, double share);

enum class Group { all, fully_stated, sweep, field, uma_rocm };
bool in_group(const Groups& groups, Group group);
std::string group_name(Group group);

Summary summarise(std::span<const RowScore> rows, Quantity quantity, Group group = Group::all);

struct Verdicts {
  int failures = 0, called = 0, class_named = 0;  ///< recorded refusals
  int oom = 0, oom_called = 0;                    ///< recorded out-of-memory; called = no or tight
  int good = 0, refused_good = 0, tight_good = 0;
};
Verdicts count_verdicts(std::span<const RowScore> rows);

/// table[recorded][answer]: answers are fits, tight, each failing check, unknown.
struct Confusion {
  std::vector<std::string> recorded, answers;
  std::vector<std::vector<int>> counts;
};
Confusion confusion(std::span<const RowScore> rows);

}  // namespace kvfit::accuracy
