// The question asked again with what this machine measured.
#pragma once

#include <string>

#include "planner/plan.h"
#include "planner/question.h"

namespace kvfit::runtime {

/// The node's total and free memory at start become these, without an error bar. `usable` is what an engine can get beside
/// its own context; `source` says who measured.
planner::Question with_measured(planner::Question question, profiles::Bytes total, profiles::Bytes usable,
                                const std::string& source);

/// The most that fits: experts, context and sequences may all be lowered from what was asked, and the utilisation too where
/// the engine would refuse to start at it.
planner::Question largest_question(planner::Question question, const planner::Plan& planned);

}  // namespace kvfit::runtime
