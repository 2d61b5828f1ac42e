// A plan that `kvfit plan --format json` wrote, read back: the flags it was asked with, and the ledger of each rank.
#pragma once

#include <string>
#include <vector>

#include "planner/ledger.h"
#include "profiles/document.h"

namespace kvfit::cli {

struct SavedPlan {
  std::vector<std::string> arguments;  ///< of `kvfit plan`
  std::vector<planner::Ledger> ledgers;
  double utilization = 0;          ///< 0 = none was stated
  std::int64_t max_model_len = 0;  ///< 0 = the plan holds no settings
  std::int64_t max_num_seqs = 0;
  std::int64_t planned_experts = 0;  ///< 0 = dense
};

/// Throws Error with the place when it is no plan, of another major format version, holds no ledger or no arguments, or a
/// ledger does not add up to its total.
SavedPlan read_saved_plan(const profiles::Node& document);

}  // namespace kvfit::cli
