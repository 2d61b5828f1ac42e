// What `kvfit check` found: each deployment with its answer and its findings. Renderings (check_report.h) only read it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/report.h"
#include "planner/plan.h"
#include "profiles/error.h"
#include "runtime/deployment.h"

namespace kvfit::cli {

/// A finding at its place, and why it may not count.
struct Placed {
  planner::Finding finding;
  profiles::Where where;
  std::string subject;      ///< what it is about, where its text holds measured numbers: a check, a flag; "" = the text
  std::string deployment;   ///< CheckCase::label
  std::string fingerprint;  ///< of this finding of this deployment and no other, wherever its line moves
  bool suppressed = false;  ///< kvfit.yaml allows it
  std::string reason;       ///< then: why, as kvfit.yaml says
  bool known = false;       ///< --baseline has it

  bool counts() const { return !suppressed && !known; }
};

struct CheckCase {
  runtime::Deployment deployment;
  std::string file;              ///< as named or found; "" for a command line
  std::optional<Report> report;  ///< absent when there is no answer: a finding KVF000 says why
  std::vector<std::string> assumptions;
  std::vector<Placed> findings;  ///< worst first, then by place

  /// "deploy/compose.yaml: service llm", "command line".
  std::string label() const;
  /// The memory would do, but an error that counts stands against it: it is no yes.
  bool faulty() const;
};

struct CheckRun {
  std::vector<CheckCase> cases;
  std::vector<Placed> general;        ///< of no deployment: suppressions that ran out or match nothing
  std::vector<std::string> skipped;   ///< files of a directory that could not be read, with the reason
  std::vector<std::string> searched;  ///< directories that were read whole
  std::size_t files = 0;              ///< read
  std::string fail_on = "error";      ///< "error", "warning", "note", "never"
};

struct CheckCounts {
  std::size_t fits = 0, tight = 0, does_not_fit = 0, refused = 0, unknown = 0;
  std::size_t faulty = 0;                                                      ///< of those that fit or are tight
  std::size_t errors = 0, warnings = 0, notes = 0, suppressed = 0, known = 0;  ///< the first three: of those that count
};
CheckCounts count(const CheckRun& run);

/// All findings that are to be shown, worst first.
std::vector<const Placed*> all_findings(const CheckRun& run);

/// "error", "warning", "note".
std::string_view level_name(planner::Finding::Level level);

/// Verdict of the deployment; unknown when there is no answer.
planner::Verdict verdict_of(const CheckCase& one);

/// The worst verdict; fits when there are no deployments.
planner::Verdict worst_verdict(const CheckRun& run);

/// Whether one deployment passes by itself.
bool passes(const CheckCase& one, const CheckRun& run);

/// 0 when no finding that counts reaches --fail-on; else 3 when all that do are refusals, 2 when all that do are questions
/// without answer, 1 otherwise. A question without answer counts whatever --fail-on says.
int exit_code(const CheckRun& run);

}  // namespace kvfit::cli
