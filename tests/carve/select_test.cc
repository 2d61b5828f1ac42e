#include "carve/select.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "profiles/error.h"

namespace kvfit::carve {
namespace {

std::vector<std::int32_t> kept(const std::vector<double>& scores, SelectOptions options) {
  Layout layout;
  layout.experts = static_cast<std::int64_t>(scores.size());
  layout.blocks.resize(1);
  layout.blocks[0].prefix = "b";
  ScoreReport report;
  report.blocks.push_back({.values = scores, .router = {}, .weight = {}, .basis = ""});
  return select_experts(layout, report, options).front().kept;
}

using Ids = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("the best stay, in ascending order, and the lower number wins a tie") {
  CHECK(kept({1, 4, 2, 3}, {.keep = 2}) == Ids{1, 3});
  CHECK(kept({5, 5, 5, 1}, {.keep = 2}) == Ids{0, 1});
}

TEST_CASE("each group of the router keeps the same number") {
  // The best four of all are 4 to 7; two groups of four keep two each.
  CHECK(kept({1, 2, 3, 4, 5, 6, 7, 8}, {.keep = 4, .groups = 2}) == Ids{2, 3, 6, 7});
}

TEST_CASE("protected experts stay and dropped ones go, everywhere or in one block") {
  CHECK(kept({1, 2, 3, 4}, {.keep = 2, .protect = {.everywhere = {0}}}) == Ids{0, 3});
  CHECK(kept({1, 2, 3, 4}, {.keep = 2, .drop = {.everywhere = {3}}}) == Ids{1, 2});
  CHECK(kept({1, 2, 3, 4}, {.keep = 2, .protect = {.by_block = {{"b", {0}}}}}) == Ids{0, 3});
  const auto refused = [](const SelectOptions& options, const char* text) {
    CHECK_THROWS_WITH_AS(kept({1, 2, 3, 4}, options), text, profiles::Error);
  };
  refused({.keep = 2, .protect = {.everywhere = {0}}, .drop = {.everywhere = {0}}},
          "error: expert 0 is both protected and dropped");
  refused({.keep = 1, .protect = {.everywhere = {0, 1}}}, "error: 1 of 4 experts are to stay, and more are protected");
  refused({.keep = 2, .drop = {.everywhere = {0, 1, 2}}}, "error: 2 of 4 experts are to stay, and more are to be dropped");
  refused({.keep = 2, .protect = {.everywhere = {4}}}, "error: expert 4 is not of 0 to 3");
  refused({.keep = 2, .drop = {.by_block = {{"other", {1}}}}},
          "error: 'other' is no block of this checkpoint\n  help: blocks are named as 'b'");
}

TEST_CASE("two scores are combined by the mean of their ranks") {
  ScoreReport a;
  ScoreReport b;
  a.blocks.push_back({.values = {10, 30, 20, 0}, .router = {}, .weight = {}, .basis = ""});  // ranks 2, 0, 1, 3
  b.blocks.push_back({.values = {-1, -2, -3, 0}, .router = {}, .weight = {}, .basis = ""});  // ranks 1, 2, 3, 0
  CHECK(rank_sum(a, b).blocks[0].values == std::vector<double>{-1.5, -1.0, -2.0, -1.5});
}

TEST_CASE("rank correlation is Spearman's") {
  CHECK(rank_correlation({1, 2, 3, 4}, {10, 20, 30, 40}) == 1);
  CHECK(rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}) == -1);
  // Ranks 3 2 1 0 against 3 2 0 1: squared differences 0 0 1 1, 1 - 6 x 2 / (4 x 15) = 0.8
  CHECK(rank_correlation({1, 2, 3, 4}, {1, 2, 4, 3}) == doctest::Approx(0.8));
}

TEST_CASE("coefficient of variation is the deviation over the mean") {
  CHECK(coefficient_of_variation({2, 2, 2}) == 0);
  CHECK(coefficient_of_variation({1, 3}) == doctest::Approx(0.5));  // mean 2, deviation 1
}

}  // namespace kvfit::carve
