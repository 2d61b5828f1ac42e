#include "tests/accuracy/statistics.h"

#include <doctest/doctest.h>

namespace kvfit::accuracy {
namespace {

RowScore row_with(double error, double bar, bool exact = false) {
  RowScore row;
  row.id = "row" + std::to_string(static_cast<int>(100 * error));
  row.groups.field = true;
  Score score;
  score.quantity = Quantity::activation;
  score.error = error;
  score.bar = bar;
  score.exact = exact;
  row.scores.push_back(score);
  return row;
}

TEST_CASE("median of an even count is the mean of the middle two; p90 is the nearest rank") {
  CHECK(median({4, 1, 3, 2}) == doctest::Approx(2.5));
  CHECK(percentile({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.9) == doctest::Approx(9));  // ceil(0.9 x 10) = 9th
  CHECK(percentile({5}, 0.9) == doctest::Approx(5));
}

TEST_CASE("a summary counts errors with their sign and bars by what they hold") {
  // errors +0.1 (bar 0.2 holds), -0.3 (bar 0.2 does not), 0.4 (exact counts as held)
  const std::vector<RowScore> rows = {row_with(0.1, 0.2), row_with(-0.3, 0.2), row_with(0.4, 0.2, true)};
  const Summary summary = summarise(rows, Quantity::activation);
  CHECK(summary.n == 3);
  CHECK(summary.mean == doctest::Approx(0.2 / 3));
  CHECK(summary.median_abs == doctest::Approx(0.3));
  CHECK(summary.p90_abs == doctest::Approx(0.4));
  CHECK(*summary.coverage == doctest::Approx(2.0 / 3));
  CHECK(summary.worst_id == "row40");
  CHECK(summarise(rows, Quantity::activation, Group::sweep).n == 0);
}

TEST_CASE("verdicts: refusals, out-of-memory and good boots are counted apart") {
  std::vector<RowScore> rows(4);
  rows[0].verdict = VerdictScore{planner::Verdict::does_not_fit, "kv_one_request", Outcome::kv_too_small, true, true};
  rows[1].verdict = VerdictScore{planner::Verdict::fits, "", Outcome::free_memory, false, false};
  rows[2].verdict = VerdictScore{planner::Verdict::tight, "run", Outcome::oom, true, false};
  rows[3].verdict = VerdictScore{planner::Verdict::tight, "run", Outcome::good, false, false};
  const Verdicts v = count_verdicts(rows);
  CHECK(v.failures == 2);
  CHECK(v.called == 1);
  CHECK(v.class_named == 1);
  CHECK(v.oom == 1);
  CHECK(v.oom_called == 1);
  CHECK(v.good == 1);
  CHECK(v.refused_good == 0);
  CHECK(v.tight_good == 1);
}

}  // namespace
}  // namespace kvfit::accuracy
