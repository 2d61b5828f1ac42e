// The verdict `unknown` and what it names; beside it the pools that are given instead of sized.
#include "planner/missing.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "planner/search.h"
#include "tests/planner/memory_support.h"

namespace kvfit::planner {
namespace {

using namespace test;

Question small(const char* version) {
  Question question = h100(kLlama31_8b, version);
  question.serving.max_model_len = 8192;
  question.serving.max_num_seqs = 16;
  return question;
}

TEST_CASE("a drafter of unknown shape leaves no honest yes, a draft method without layers does") {
  Question question = small("0.24.0");
  CHECK(evaluate(question).verdict == Verdict::fits);

  question.serving.speculative = Speculative{"eagle3", 3, nullptr, nullptr};
  const Plan plan = evaluate(question);
  CHECK(plan.verdict == Verdict::unknown);
  CHECK(plan.binding == "missing_facts");
  REQUIRE(plan.findings.size() == 1);
  CHECK(plan.findings[0].id == "KVF000");
  CHECK(plan.findings[0].text ==
        "the drafter's layers are not known: its weights and its cache for 'eagle3' cannot be counted");

  question.serving.speculative->method = "ngram";
  CHECK(evaluate(question).verdict == Verdict::fits);
}

TEST_CASE("a no stands whatever is missing: the drafter only takes more") {
  Question question = small("0.24.0");
  question.node.used_elsewhere = profiles::gib(70);
  question.serving.speculative = Speculative{"eagle3", 3, nullptr, nullptr};
  const Plan plan = evaluate(question);
  CHECK(plan.verdict == Verdict::does_not_fit);
  CHECK(plan.findings.size() == 1);
}

TEST_CASE("releases far beyond the boots that were compared have no answer, the next ones do") {
  CHECK(evaluate(small("0.33.0")).verdict == Verdict::fits);
  const Plan plan = make_plan(small("0.36.0"));
  CHECK(plan.verdict == Verdict::unknown);
  REQUIRE(plan.findings.size() == 1);
  CHECK(plan.findings[0].text == "vllm 0.36.0 is too far beyond the releases whose accounting was compared");
  for (const Rung& rung : plan.ladder) CHECK(rung.verdict == Verdict::unknown);
}

// --kv-cache-memory-bytes: 4 GiB of 32 layers x 8 heads x 128 x 2 x 2 bytes = 131,072 a token are 32,768 tokens, four
// requests.
TEST_CASE("a pool given in bytes is taken as it is, whatever the profile run leaves") {
  Question question = small("0.24.0");
  question.serving.kv_cache_memory_bytes = profiles::gib(4);
  const Plan plan = evaluate(question);
  CHECK(plan.kv.available == profiles::gib(4));
  CHECK(plan.kv.tokens == 32768);
  CHECK(plan.kv.max_concurrency == doctest::Approx(4));
}

// A pool that can sleep is not torch's: one boot on an L4 prints -3.58 GiB of non-torch memory before v0.26.
TEST_CASE("sleep mode widens the bar of the cache up to v0.25 and changes nothing from v0.26") {
  for (const char* version : {"0.24.0", "0.27.0"}) {
    Question question = small(version);
    const Plan awake = evaluate(question);
    question.serving.enable_sleep_mode = true;
    const Plan sleeper = evaluate(question);
    const bool old = std::string(version) == "0.24.0";
    const auto bar = [](const Plan& plan) { return plan.ledgers[0].entries[plan.ledgers[0].entries.size() - 2].error; };
    CHECK((bar(sleeper) > bar(awake)) == old);
    CHECK((bar(sleeper) > profiles::gib(3)) == old);
  }
}

}  // namespace
}  // namespace kvfit::planner
