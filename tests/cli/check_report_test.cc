// Every format of every verdict of `kvfit check` against tests/golden/. KVFIT_UPDATE_GOLDEN=1 rewrites them.
#include "cli/check_report.h"

#include <doctest/doctest.h>

#include <string>

#include "cli/check_policy.h"
#include "cli/check_rules.h"
#include "cli/commands.h"
#include "tests/cli/sample_reports.h"
#include "tests/support/golden.h"

namespace {

using namespace kvfit;
using namespace kvfit::cli;
using tests::check_golden;

// A deployment with the sample's answer and the findings that its verdict brings.
CheckRun run_of(samples::Sample sample) {
  CheckCase one;
  one.file = "deploy/compose.yaml";
  one.deployment.kind = "compose";
  one.deployment.name = "service llm";
  one.deployment.where = {.file = one.file, .line = 3, .column = 5, .key = "services.llm", .excerpt = {}};
  one.deployment.model = runtime::Stated{"example/Sample-MoE-NVFP4", one.deployment.where};
  one.deployment.remarks = {{runtime::Remark::Kind::unknown_flag,
                             "no release of the engine known to kvfit has a flag --<x> & \"y\"",
                             "did you mean '--max-num-seqs'?",
                             {.file = one.file, .line = 9, .column = 9, .key = "services.llm.command[4]", .excerpt = {}}}};
  const runtime::FlagTable flags;
  if (sample.name == "unknown") {
    add_finding(one.findings, "KVF000", "unknown model 'example/none'", "`kvfit models list` shows all",
                one.deployment.where);
    remark_findings(one.deployment, one.findings);
  } else {
    one.report = std::move(sample.report);
    const RuleInput input{.one = one,
                          .report = *one.report,
                          .deployment = one.deployment,
                          .flags = flags,
                          .missing_draft = "",
                          .margin = profiles::Bytes(0)};
    std::vector<Placed> findings;
    verdict_rules(input, findings);
    remark_findings(one.deployment, findings);
    one.findings = std::move(findings);
  }
  CheckRun out;
  out.files = 1;
  out.cases.push_back(std::move(one));
  mark_fingerprints({}, out);
  return out;
}

}  // namespace

TEST_CASE("every verdict reads the same as before in every format of kvfit check") {
  for (samples::Sample& sample : samples::all()) {
    const std::string name = "check-" + sample.name;
    const CheckRun run = run_of(std::move(sample));
    check_golden(name + ".txt", check_table(run, Screen{}));
    check_golden(name + ".md", check_markdown(run));
    check_golden(name + ".json", json_text(check_json(run)));
    check_golden(name + ".yaml", yaml_text(check_json(run)));
    check_golden(name + ".github", check_github(run));
    check_golden(name + ".sarif", json_text(check_sarif(run)));
    check_golden(name + ".xml", check_junit(run));
  }
}

TEST_CASE("the exit code follows from the findings that count") {
  const auto code = [](const std::string& name, const std::string& fail_on, bool suppressed = false) {
    for (samples::Sample& sample : samples::all()) {
      if (sample.name != name) continue;
      CheckRun run = run_of(std::move(sample));
      run.fail_on = fail_on;
      for (Placed& placed : run.cases[0].findings) placed.suppressed = suppressed;
      return exit_code(run);
    }
    return -1;
  };
  CHECK(code("fits", "error") == kYes);
  CHECK(code("fits", "warning") == kNo);  // the unknown flag
  CHECK(code("tight", "error") == kYes);
  CHECK(code("no-certain", "error") == kNo);
  CHECK(code("no-certain", "never") == kYes);
  CHECK(code("no-certain", "error", true) == kYes);
  CHECK(code("refused", "error") == kRefused);
  CHECK(code("refused", "warning") == kNo);  // a refusal and something else
  CHECK(code("unknown", "error") == kNoAnswer);
  CHECK(code("unknown", "never") == kNoAnswer);
}

TEST_CASE("annotations: at most ten of a kind, the last one counts the rest; separators are escaped") {
  CheckRun run;
  for (int i = 0; i < 25; ++i) {
    add_finding(run.general, "KVF016", "50% of a,b:c\nd", "",
                {.file = "a,b.yaml", .line = 1, .column = 2, .key = {}, .excerpt = {}});
  }
  const std::string text = check_github(run);
  std::size_t lines = 0;
  for (std::size_t at = text.find("::error"); at != std::string::npos; at = text.find("::error", at + 1)) ++lines;
  CHECK(lines == 10);
  CHECK(text.starts_with("::error file=a%2Cb.yaml,line=1,col=2,title=KVF016 unknown flag::50%25 of a,b:c?d\n"));
  CHECK(text.find("::error title=kvfit::16 more of this kind") != std::string::npos);
}

TEST_CASE("a comment stays below the limit and counts what is left out") {
  CheckRun run;
  for (int i = 0; i < 2000; ++i) add_finding(run.general, "KVF016", std::string(100, 'x'), "", {.file = "a.yaml"});
  const std::string text = check_markdown(run);
  CHECK(text.size() < 62'000);
  CHECK(text.find("more findings are left out here.") != std::string::npos);
}

TEST_CASE("a fingerprint survives moved lines and changed numbers, not another deployment") {
  const auto print = [](int line, const std::string& text, const std::string& name) {
    CheckRun run;
    CheckCase one;
    one.file = "a.yaml";
    one.deployment.name = name;
    add_finding(one.findings, "KVF001", text, "", {.file = "a.yaml", .line = line}).subject = "kv_one_request";
    run.cases.push_back(std::move(one));
    mark_fingerprints({}, run);
    return run.cases[0].findings[0].fingerprint;
  };
  CHECK(print(1, "lacks 1.0 GiB", "service a") == print(9, "lacks 2.0 GiB", "service a"));
  CHECK(print(1, "lacks 1.0 GiB", "service a") != print(1, "lacks 1.0 GiB", "service b"));
}

TEST_CASE("a day is a day: SOURCE_DATE_EPOCH decides where it is set") {
  CHECK(today("0") == "1970-01-01");
  CHECK(today("1796083200") == "2026-12-01");  // 20788 days after 1970-01-01
  CHECK(today("never").size() == 10);
}
