// What `kvfit boot --engine` says: how the engine came up, its printed numbers against the plan, memory and completions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/listing.h"
#include "planner/plan.h"
#include "runtime/comparison.h"
#include "runtime/engine_run.h"

namespace kvfit::cli {

struct EngineReport {
  std::string what, gpu_name, engine;
  std::vector<std::string> command;
  runtime::EngineRun run;
  std::optional<runtime::Comparison> comparison;  ///< absent when the log holds nothing to compare
  profiles::Bytes planned_peak;                   ///< of the ledger: total less what stays free
};

/// fits: ready, every line within its bar, completions answered. does-not-fit: it ended, or answered wrongly, or a line
/// disagrees. unknown: it was not ready in time.
planner::Verdict verdict_of(const EngineReport& report);

/// The newest that the log says, for a line that is drawn again and again: "weights loaded: 19.28 GiB".
std::string stage_text(const runtime::BootLog& log);

Listing engine_listing(const EngineReport& report);

}  // namespace kvfit::cli
