// The engine's checks on numbers made by hand: their order, what binds, and how far the bars reach.
#include "planner/checks.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "planner/verdict.h"

namespace kvfit::planner {
namespace {

// A device of 1000 bytes, 900 asked for: weights 500, activation 100 +-30, growth 50, so 250 +-30 are left for blocks of 10
// bytes with 5 tokens each; 20 tokens, 40 bytes, are one request. 40 +-8 are taken after the pool was sized.
Numbers by_hand() {
  Numbers out;
  out.settings.gpu_memory_utilization = 0.9;
  out.settings.max_model_len = 20;
  out.settings.max_num_seqs = 1;
  out.total = out.free_at_start = Bytes(1000);
  out.requested = Bytes(900);
  StageNumbers stage;
  stage.sums.weights = {Bytes(500), Bytes(0)};
  stage.sums.activation = {Bytes(100), Bytes(30)};
  stage.sums.non_torch = {Bytes(50), Bytes(0)};
  stage.sums.outside = {Bytes(40), Bytes(8)};
  stage.available = stage.checked = Bytes(250);
  stage.available_error = Bytes(30);
  stage.needed = Bytes(40);
  out.stages = {stage};
  out.kv.bytes_per_block = Bytes(10);
  out.kv.block_size = 5;
  out.kv.num_gpu_blocks = 25;
  return out;
}

// The same with an activation peak of so many bytes: what it takes leaves the pool.
Numbers with_peak(std::int64_t bytes) {
  Numbers out = by_hand();
  out.stages[0].sums.activation.bytes = Bytes(bytes);
  out.stages[0].available = out.stages[0].checked = Bytes(350 - bytes);
  out.kv.num_gpu_blocks = bytes < 350 ? (350 - bytes) / 10 : 0;
  return out;
}

const Check& named(const std::vector<Check>& checks, const std::string& id) {
  for (const Check& check : checks) {
    if (check.id == id) return check;
  }
  FAIL("no check ", id);
  return checks.front();
}

TEST_CASE("the checks stand in the engine's order") {
  std::vector<std::string> ids;
  for (const Check& check : make_checks(by_hand(), 1.0)) ids.push_back(check.id);
  CHECK(ids == std::vector<std::string>{"free_memory", "weights", "profile_run", "kv_blocks", "kv_one_request", "run"});
}

TEST_CASE("the profile run needs weights, growth and peak at once") {
  const std::vector<Check> checks = make_checks(by_hand(), 1.0);
  const Check& profile = named(checks, "profile_run");
  CHECK(profile.need == Bytes(650));  // 500 + 50 + 100
  CHECK(profile.have == Bytes(1000));
  CHECK(profile.error == Bytes(30));
}

TEST_CASE("of what fails, the first in the engine's order decides, for there the engine stops") {
  // 500 + 50 + 700 = 1250 of 1000: the profile run runs out of memory; the pool (350 - 700 = -350) is never sized.
  const std::vector<Check> checks = make_checks(with_peak(700), 1.0);
  CHECK(named(checks, "kv_one_request").margin() == Bytes(-390));
  CHECK(binding_check(checks)->id == "profile_run");
}

TEST_CASE("a failure within its bar does not decide where a later one is certain") {
  // 500 + 50 + 460 = 1010: ten too many, the bar is 30; the pool lacks 110 +-30 for one block.
  const std::vector<Check> checks = make_checks(with_peak(460), 1.0);
  CHECK(named(checks, "profile_run").verdict == Verdict::does_not_fit);
  CHECK_FALSE(named(checks, "profile_run").certain);
  CHECK(binding_check(checks)->id == "kv_blocks");
}

TEST_CASE("where nothing fails, the least margin in bars decides") {
  // run: 1000 - (650 + 250 + 40) = 60, 7.5 bars of 8; kv_one_request: 210, 7 bars of 30
  CHECK(binding_check(make_checks(by_hand(), 1.0))->id == "kv_one_request");
}

TEST_CASE("a pool takes up the budget's errors; without one they reach the load") {
  CHECK(named(make_checks(by_hand(), 1.0), "run").error == Bytes(8));
  CHECK(named(make_checks(with_peak(360), 1.0), "run").error == Bytes(31));  // sqrt(30^2 + 8^2) = 31.05
}

TEST_CASE("tokens beyond the model's length are weighed by what a token takes in the cache") {
  Numbers numbers = by_hand();
  numbers.settings.max_model_len = 120;
  numbers.length_limit = 20;
  const Check& length = make_checks(numbers, 1.0).front();
  CHECK(length.id == "model_length");
  CHECK(*length.need_count == 120);
  CHECK(*length.have_count == 20);
  CHECK(length.margin() == Bytes(-200));  // 100 tokens of 10 / 5 bytes
}

}  // namespace
}  // namespace kvfit::planner
