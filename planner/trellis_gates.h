// Mixed Trellis (EXL3) experts on a machine: the checkpoint's tensor-parallel size, and the shared memory that a kernel of
// several tiers needs. Rows: table trellis_shared_memory of the engine's profile; both published rules are shown, the row
// says which decides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hardware/gate.h"
#include "models/trellis.h"
#include "planner/question.h"

namespace kvfit::planner {

/// Bytes of shared memory one block of the mixed kernel takes at 64 rows: that of its largest tier. 0 for fewer than two
/// tiers.
std::int64_t trellis_shared_memory(const Rules& rules, const Traits& traits, const std::vector<int>& tiers);

/// Empty when the checkpoint has no Trellis experts.
std::vector<hardware::Gate> trellis_gates(const Question& question, const models::TrellisLayout& layout,
                                          const Traits& traits);

}  // namespace kvfit::planner
