// Questions that no engine would take: said before anything is computed.
#pragma once

#include <string>

#include "planner/question.h"

namespace kvfit::cli {

/// Which draft weights speculation lacks, as one sentence; "" when it lacks none.
std::string missing_draft(const planner::Question& question);

/// Throws Error when the parallel sizes cannot be laid out, or a draft is asked for that does not exist.
/// Source: vllm/config/model.py verify_with_parallel_config, vllm/config/parallel.py, vllm/config/speculative.py.
void check_question(const planner::Question& question, bool drafter_named = false);

}  // namespace kvfit::cli
