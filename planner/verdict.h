// From margin and error bar to a verdict: `tight` when the bar crosses zero from above, `does-not-fit` below zero.
#pragma once

#include <vector>

#include "planner/plan.h"

namespace kvfit::planner {

/// How much wider or narrower than the 90 % bar the chosen confidence is (normal errors: 0.410, 1, 1.192).
double bar_factor(Confidence confidence);

/// Fills verdict and certainty of a check from its margin and error.
void judge(Check& check);

/// fits < tight < does-not-fit; refused and unknown are worse than all.
bool worse(Verdict a, Verdict b);

/// The check that decides. Where some fail: the first in the engine's order that fails for certain, else the first that
/// fails, because there the engine stops. Where none does: the least margin relative to its bar. Empty input: nullptr.
const Check* binding_check(const std::vector<Check>& checks);

}  // namespace kvfit::planner
