// The verdict `unknown`: what neither a rule nor a profile nor the question says, so that a yes would be a guess. A no
// stands all the same where what is missing can only take more memory.
#pragma once

#include "planner/plan.h"
#include "planner/question.h"

namespace kvfit::planner {

/// One finding a missing fact (id KVF000, what is missing and how to supply it); empty when an honest answer exists.
std::vector<Finding> missing_facts(const Question& question);

/// Turns a yes of `plan` into unknown when facts are missing; the facts are added to its findings whatever the verdict.
void apply_missing(const Question& question, Plan& plan);

}  // namespace kvfit::planner
