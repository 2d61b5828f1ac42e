#include "cli/findings.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/question_checks.h"
#include "profiles/error.h"
#include "tests/cli/sample_reports.h"

namespace {

using namespace kvfit;
using namespace kvfit::cli;

Report sample(const std::string& name) {
  for (samples::Sample& one : samples::all()) {
    if (one.name == name) return std::move(one.report);
  }
  return {};
}

std::vector<std::string> ids(const Report& report) {
  std::vector<std::string> out;
  for (const planner::Finding& finding : findings_of(report)) out.push_back(finding.id);
  return out;
}

std::string complaint(const planner::Question& question) {
  try {
    check_question(question);
  } catch (const profiles::Error& error) {
    return error.text();
  }
  return "no error";
}

planner::Question question() { return sample("fits").question; }

}  // namespace

TEST_CASE("a plan that fits has nothing to act on") { CHECK(ids(sample("fits")).empty()); }

TEST_CASE("what does not fit names the smallest concession that alone reaches a fit") {
  Report report = sample("no-certain");
  report.plan.levers = {{"fewer_experts", "160 experts", profiles::mib(2304), planner::Verdict::fits},
                        {"vision_off", "vision tower not loaded", profiles::mib(900), planner::Verdict::fits},
                        {"eager", "no CUDA graphs", profiles::mib(300), planner::Verdict::does_not_fit}};
  const std::vector<planner::Finding> findings = findings_of(report);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].id == "KVF001");
  CHECK(findings[0].level == planner::Finding::Level::error);
  CHECK(findings[0].text == "the engine does not start: kv_one_request decides");
  CHECK(findings[0].hint == "the smallest single concession that fits: vision tower not loaded (vision_off)");
}

TEST_CASE("when no lever is enough the finding says so") {
  Report report = sample("no-certain");
  report.plan.levers = {{"eager", "no CUDA graphs", profiles::mib(300), planner::Verdict::does_not_fit}};
  CHECK(findings_of(report)[0].hint == "no single concession is enough: take a rung of the ladder that fits");
}

TEST_CASE("tight, refused and a utilisation that is too high have ids of their own") {
  CHECK(ids(sample("tight")) == std::vector<std::string>{"KVF002", "KVF008"});  // 0.94 asked, 0.931 is safe
  CHECK(ids(sample("refused")) == std::vector<std::string>{"KVF003"});
}

TEST_CASE("Triton expert kernels are no match for NVFP4 experts, and only for those") {
  Report report = sample("fits");
  report.question.serving.moe_backend = "triton";
  CHECK(ids(report).empty());
  report.question.model.quantization.base = {.format = models::Format::nvfp4, .bits = 4, .group = 16};
  CHECK(ids(report) == std::vector<std::string>{"KVF009"});
}

TEST_CASE("what a config leaves open is said") {
  Report report = sample("fits");
  report.question.node.gpu.cuda_total_linux.sourced = true;
  report.question.model.missing = {"head_dim is taken as hidden / heads"};
  CHECK(taken_for_granted(report) == std::vector<std::string>{"model: head_dim is taken as hidden / heads"});
}

TEST_CASE("parallel sizes must fit into each other and into the layers") {
  planner::Question out = question();
  CHECK(complaint(out) == "no error");
  out.serving.tensor_parallel_size = 4;
  out.serving.decode_context_parallel_size = 3;
  CHECK(complaint(out) ==
        "error: decode context parallel size 3 does not divide tensor parallel size 4\n  help: the engine takes 1, 2, 4");
  out.serving.decode_context_parallel_size = 1;
  out.serving.pipeline_parallel_size = 3;
  CHECK(complaint(out) == "error: pipeline parallel size 3 is more than the model's 2 layers");
}

TEST_CASE("a draft must exist before it can speculate; n-grams need none") {
  planner::Question out = question();
  out.serving.speculative = planner::Speculative{.method = "mtp", .tokens = 2};
  CHECK(complaint(out).starts_with("error: speculation by mtp needs draft weights, example/Sample-MoE-NVFP4 has none\n"));
  out.serving.speculative->method = "ngram";
  CHECK(complaint(out) == "no error");
  out.serving.speculative->method = "mtp";
  out.model.draft = models::Draft{.method = "mtp"};
  CHECK(complaint(out) == "no error");
}
