// A row that gives its cache layout instead of a model: its layer classes become the planner's KV specs, which are grouped
// and counted like any model's.
#pragma once

#include "planner/kv_groups.h"
#include "planner/rules.h"
#include "tests/accuracy/observation.h"

namespace kvfit::accuracy {

/// Throws profiles::Error for a layer class this tool does not know, or when the engine would refuse the layout.
planner::KvLayout layout_of(const Observation& row, const planner::Rules& rules);

/// In-flight tokens as stated; 0 when no layer has a window.
std::int64_t in_flight_of(const CacheLayout& layout);

}  // namespace kvfit::accuracy
