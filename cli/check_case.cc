#include "cli/check_case.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "planner/verdict.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using planner::Finding;
using planner::Verdict;

bool reaches(Finding::Level level, std::string_view fail_on) {
  if (fail_on == "never") return false;
  if (level == Finding::Level::error) return true;
  if (level == Finding::Level::warning) return fail_on != "error";
  return fail_on == "note";
}

bool fails_gate(const Placed& placed, std::string_view fail_on) {
  return placed.counts() && (placed.finding.id == "KVF000" || reaches(placed.finding.level, fail_on));
}

// Worst first, then as they stand in the files.
bool before(const Placed* a, const Placed* b) {
  if (a->counts() != b->counts()) return a->counts();
  if (a->finding.level != b->finding.level) return a->finding.level < b->finding.level;
  return false;
}

}  // namespace

std::string CheckCase::label() const {
  const std::string what = deployment.name.empty() ? deployment.kind : deployment.name;
  if (file.empty()) return what;
  return deployment.name.empty() ? file : profiles::format("{}: {}", file, deployment.name);
}

bool CheckCase::faulty() const {
  if (!report || (report->plan.verdict != Verdict::fits && report->plan.verdict != Verdict::tight)) return false;
  return std::any_of(findings.begin(), findings.end(),
                     [](const Placed& one) { return one.counts() && one.finding.level == Finding::Level::error; });
}

std::string_view level_name(Finding::Level level) {
  switch (level) {
    case Finding::Level::error:
      return "error";
    case Finding::Level::warning:
      return "warning";
    case Finding::Level::note:
      return "note";
  }
  return "note";
}

Verdict verdict_of(const CheckCase& one) { return one.report ? one.report->plan.verdict : Verdict::unknown; }

Verdict worst_verdict(const CheckRun& run) {
  Verdict out = Verdict::fits;
  for (const CheckCase& one : run.cases) {
    if (planner::worse(verdict_of(one), out)) out = verdict_of(one);
  }
  return out;
}

std::vector<const Placed*> all_findings(const CheckRun& run) {
  std::vector<const Placed*> out;
  for (const CheckCase& one : run.cases) {
    for (const Placed& placed : one.findings) out.push_back(&placed);
  }
  for (const Placed& placed : run.general) out.push_back(&placed);
  std::stable_sort(out.begin(), out.end(), before);
  return out;
}

CheckCounts count(const CheckRun& run) {
  CheckCounts out;
  for (const CheckCase& one : run.cases) {
    if (one.faulty()) ++out.faulty;
    switch (verdict_of(one)) {
      case Verdict::fits:
        ++out.fits;
        break;
      case Verdict::tight:
        ++out.tight;
        break;
      case Verdict::does_not_fit:
        ++out.does_not_fit;
        break;
      case Verdict::refused:
        ++out.refused;
        break;
      case Verdict::unknown:
        ++out.unknown;
        break;
    }
  }
  for (const Placed* placed : all_findings(run)) {
    if (placed->suppressed) ++out.suppressed;
    if (placed->known && !placed->suppressed) ++out.known;
    if (!placed->counts()) continue;
    ++(placed->finding.level == Finding::Level::error     ? out.errors
       : placed->finding.level == Finding::Level::warning ? out.warnings
                                                          : out.notes);
  }
  return out;
}

bool passes(const CheckCase& one, const CheckRun& run) {
  return std::none_of(one.findings.begin(), one.findings.end(),
                      [&run](const Placed& placed) { return fails_gate(placed, run.fail_on); });
}

int exit_code(const CheckRun& run) {
  bool any = false;
  bool refusals = true;
  bool unanswered = true;
  for (const Placed* placed : all_findings(run)) {
    const bool no_answer = placed->finding.id == "KVF000";
    if (!fails_gate(*placed, run.fail_on)) continue;
    any = true;
    refusals = refusals && placed->finding.id == "KVF003";
    unanswered = unanswered && no_answer;
  }
  if (!any) return kYes;
  if (refusals) return kRefused;
  return unanswered ? kNoAnswer : kNo;
}

}  // namespace kvfit::cli
