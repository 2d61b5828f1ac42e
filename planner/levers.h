// Levers: single concessions, each priced alone at the planned point, so that a person can choose the least of them.
#pragma once

#include <vector>

#include "planner/evaluator.h"
#include "planner/plan.h"

namespace kvfit::planner {

/// Levers that apply to this question, largest gain first. `frees` is the gain in bytes of the one-request margin or of the
/// binding check's, whichever is larger; levers that free nothing are left out.
std::vector<Lever> levers_of(const Evaluator& evaluator, const Point& point, const Bounds& bounds);

}  // namespace kvfit::planner
