// What the machine takes before any engine: CUDA context, idle use, what a Windows host hides, other programs. Ledger
// entries whose sum is total - free at start (hardware/node.h), to the byte.
#pragma once

#include <vector>

#include "hardware/node.h"
#include "planner/ledger.h"

namespace kvfit::planner {

std::vector<Entry> machine_entries(const hardware::Node& node);

}  // namespace kvfit::planner
