// What a boot test proves: one rank's ledger as allocations, in the order an engine makes them.
#pragma once

#include <string>
#include <vector>

#include "planner/ledger.h"

namespace kvfit::runtime {

using profiles::Bytes;

struct BootEntry {
  std::string label, text;  ///< of the ledger
  planner::Section section = planner::Section::weights;
  Bytes bytes;  ///< > 0
};

struct BootPlan {
  Bytes total;                     ///< of the device, as planned
  Bytes free_at_start;             ///< as planned: total less what is taken before the engine
  Bytes left_free;                 ///< as planned, everything allocated; may be negative
  double utilization = 0;          ///< share of the total the engine asks for at start; 0 = it asks for no share
  double bandwidth = 0;            ///< bytes per second of the GPU's profile; 0 = not known
  std::vector<BootEntry> entries;  ///< weights, profile run, KV cache, what comes afterwards
  Bytes sum() const;
};

/// Everything of the ledger but what was taken before the engine started and what stays free. A negative entry (a correction
/// learnt from a boot) is taken off the entry before it. `utilization` and `bandwidth` are left 0.
BootPlan boot_plan(const planner::Ledger& ledger);

}  // namespace kvfit::runtime
