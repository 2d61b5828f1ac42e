// The whole answer to a question: gates, the chosen point, ledgers and checks there, the ladder around it, the levers.
#pragma once

#include <vector>

#include "planner/evaluator.h"
#include "planner/frontier.h"
#include "planner/plan.h"
#include "planner/question.h"

namespace kvfit::planner {

/// The point with the most that fits under the question's preference (else the most that is tight, else the largest stated
/// configuration, so that the plan shows what is missing).
Plan make_plan(const Question& question);

/// One stated configuration, nothing searched: verdict, ledgers and checks only.
Plan evaluate(const Question& question);

/// Lists of what may vary: expert counts that keep the hard rules, contexts (n and 1.5 x n between powers of two),
/// sequences.
Bounds bounds_of(const Question& question, const Point& stated);

}  // namespace kvfit::planner
