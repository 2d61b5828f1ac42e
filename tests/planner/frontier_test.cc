#include "planner/frontier.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "planner/verdict.h"
#include "profiles/error.h"

namespace kvfit::planner {
namespace {

using profiles::Bytes;

// A toy machine: 1000 bytes x utilisation hold experts x 4 + context / 100 + sequences x 2; the bar is 10 bytes, and nothing
// runs above a utilisation of 0.95.
Outcome toy(const Point& p) {
  const auto used = p.experts * 4 + p.max_model_len / 100 + p.max_num_seqs * 2;
  Check kv;
  kv.id = "kv_one_request";
  kv.need = Bytes(used);
  kv.have = Bytes(static_cast<std::int64_t>(1000 * p.utilization));
  kv.error = Bytes(10);
  judge(kv);
  if (p.utilization > 0.95) return {Verdict::does_not_fit, "run", Bytes(-1), Bytes(0)};
  return {kv.verdict, "kv_one_request", kv.margin(), kv.error};
}

const Bounds kBounds{.experts = {128, 160, 192, 224, 256},
                     .contexts = {8192, 16384, 32768, 65536},
                     .sequences = {1, 4, 16},
                     .utilization = 0.94};

TEST_CASE("a margin inside the bar is tight, below zero it does not fit, certainly only beyond the bar") {
  Check check{.id = "x", .need = Bytes(100), .have = Bytes(105), .error = Bytes(10)};
  judge(check);
  CHECK(check.verdict == Verdict::tight);
  check.have = Bytes(95);
  judge(check);
  CHECK(check.verdict == Verdict::does_not_fit);
  CHECK_FALSE(check.certain);
  check.have = Bytes(80);
  judge(check);
  CHECK(check.certain);
  check.have = Bytes(110);
  judge(check);
  CHECK(check.verdict == Verdict::fits);
}

TEST_CASE("experts come first, then context, then sequences") {
  // 940 bytes: 192 experts = 768, 224 = 896 leave 44, less the bar 34: too little for 8192 tokens (81) and one sequence (2).
  const auto point = best_point(kBounds, parse_preference("experts,context,sequences"), toy, Verdict::fits);
  REQUIRE(point);
  CHECK(point->experts == 192);
  CHECK(point->max_model_len == 8192);  // 768 + 81 + 2 <= 930; 16384 would need 768 + 163
  CHECK(point->max_num_seqs == 16);     // 768 + 81 + 32 = 881
}

TEST_CASE("preferring context gives up experts for it") {
  const auto point = best_point(kBounds, parse_preference("context,experts,sequences"), toy, Verdict::fits);
  REQUIRE(point);
  CHECK(point->max_model_len == 32768);  // 128 x 4 + 655 > 930: 65536 fits with no expert count; 512 + 327 + 2 = 841
  CHECK(point->experts == 128);          // 160 x 4 + 327 = 967
}

TEST_CASE("the ladder keeps rungs that fit nowhere and says what binds") {
  const std::vector<Rung> rungs = ladder(kBounds, toy);
  REQUIRE(rungs.size() == 5);
  CHECK(rungs[0].experts == 256);
  CHECK(rungs[0].verdict == Verdict::does_not_fit);
  CHECK(rungs[0].binding == "kv_one_request");
  CHECK(rungs[0].margin == Bytes(940 - 1024 - 81 - 2));
  CHECK(rungs[4].experts == 128);
  CHECK(rungs[4].max_model_len == 32768);
}

TEST_CASE("the highest utilisation stops where the run check fails") {
  const auto best =
      highest_utilization({.experts = 128, .max_model_len = 8192, .max_num_seqs = 1, .utilization = 0.94}, toy);
  REQUIRE(best);
  CHECK(*best == doctest::Approx(0.95));
}

TEST_CASE("an unknown preference is an error that names the three") {
  CHECK_THROWS_WITH_AS(parse_preference("experts,speed"),
                       "error: unknown preference 'speed'\n  help: an order of: experts, context, sequences",
                       profiles::Error);
}

}  // namespace
}  // namespace kvfit::planner
