// The plan that `kvfit boot` proves: as it was saved, or made now from the flags of `kvfit plan`.
#pragma once

#include <string>

#include "cli/args.h"
#include "cli/report.h"
#include "planner/ledger.h"
#include "profiles/catalog.h"

namespace kvfit::cli {

struct WantedPlan {
  Report report;           ///< question, and the settings that the plan chose
  planner::Ledger ledger;  ///< of --rank, as it was saved
  double utilization = 0;
};

/// Throws Error when the file is no plan, planning flags stand beside a file, or there is no ledger of that rank. Without
/// --gpu the GPU of this machine is taken.
WantedPlan wanted_plan(const Args& args, const profiles::Catalog& catalog);

/// "Qwen3.6-35B-A3B-NVFP4 with 224 of 256 experts, 98,304 tokens, 16 sequences".
std::string planned_text(const Report& report);

}  // namespace kvfit::cli
