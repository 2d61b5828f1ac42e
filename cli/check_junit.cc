// JUnit XML, as GitLab and Jenkins read it: a suite for each deployment, its cases are the fit and every finding. Errors and
// warnings that fail the gate are failures, what is allowed or known is skipped, the rest stands in system-out.
#include <cstddef>
#include <string>
#include <string_view>

#include "cli/check_report.h"
#include "cli/finding_catalog.h"
#include "cli/words.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using planner::Verdict;
using profiles::format;

// Line ends as a reference: in an attribute a bare one would be read as a blank.
std::string xml(std::string_view text) {
  std::string out;
  if (const std::size_t end = text.find('\n'); end != std::string_view::npos) {
    return xml(text.substr(0, end)) + "&#10;" + xml(text.substr(end + 1));
  }
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

struct Suite {
  std::string cases;
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
};

bool fails(const Placed& placed, const CheckRun& run) {
  CheckRun alone;
  alone.fail_on = run.fail_on;
  alone.general = {placed};
  return exit_code(alone) != 0;
}

void add(const Placed& placed, const std::string& class_name, const CheckRun& run, Suite& out) {
  const FindingPage* page = find_page(placed.finding.id);
  const std::string place = place_text(placed.where);
  const std::string text = placed.finding.text + (placed.finding.hint.empty() ? "" : "\nhelp: " + placed.finding.hint) +
                           (place.empty() ? "" : "\n" + place);
  ++out.tests;
  out.cases += format("    <testcase classname=\"{}\" name=\"{} {}\">\n", xml(class_name), placed.finding.id,
                      xml(page != nullptr ? page->title : ""));
  if (!placed.counts()) {
    ++out.skipped;
    out.cases += format("      <skipped message=\"{}\"/>\n", xml(placed.suppressed ? placed.reason : "the baseline has it"));
  } else if (placed.finding.id == "KVF000") {
    ++out.errors;
    out.cases += format("      <error type=\"{}\" message=\"{}\"/>\n", placed.finding.id, xml(text));
  } else if (fails(placed, run)) {
    ++out.failures;
    out.cases += format("      <failure type=\"{}\" message=\"{}\"/>\n", placed.finding.id, xml(text));
  } else {
    out.cases +=
        format("      <system-out>{}</system-out>\n", xml(format("{}: {}", level_name(placed.finding.level), text)));
  }
  out.cases += "    </testcase>\n";
}

std::string suite_text(const std::string& name, const Suite& suite) {
  return format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}  </testsuite>\n",
                xml(name), suite.tests, suite.failures, suite.errors, suite.skipped, suite.cases);
}

Suite suite_of(const CheckCase& one, const CheckRun& run) {
  Suite out;
  if (one.report && (verdict_of(one) == Verdict::fits || verdict_of(one) == Verdict::tight)) {
    ++out.tests;
    out.cases += format("    <testcase classname=\"{}\" name=\"fit\">\n      <system-out>{}</system-out>\n    </testcase>\n",
                        xml(one.label()), xml(headline(*one.report)));
  }
  for (const Placed& placed : one.findings) add(placed, one.label(), run, out);
  return out;
}

}  // namespace

std::string check_junit(const CheckRun& run) {
  std::string suites;
  Suite all;
  const auto take = [&](const std::string& name, const Suite& suite) {
    suites += suite_text(name, suite);
    all.tests += suite.tests;
    all.failures += suite.failures;
    all.errors += suite.errors;
    all.skipped += suite.skipped;
  };
  for (const CheckCase& one : run.cases) take(one.label(), suite_of(one, run));
  if (!run.general.empty()) {
    Suite general;
    for (const Placed& placed : run.general) add(placed, "kvfit.yaml", run, general);
    take("kvfit.yaml", general);
  }
  return format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kvfit check\" tests=\"{}\" failures=\"{}\" "
      "errors=\"{}\" skipped=\"{}\">\n{}</testsuites>\n",
      all.tests, all.failures, all.errors, all.skipped, suites);
}

}  // namespace kvfit::cli
