// What a deployment's flags and environment mean for a plan: the engine's own names into planner::Serving.
#pragma once

#include <optional>

#include "planner/question.h"
#include "runtime/deployment.h"

namespace kvfit::runtime {

/// Only what is stated; nothing is filled in. `draft_model` receives a separate draft checkpoint (path or id). Throws Error
/// at the flag's place when a value cannot be read.
planner::Serving serving_of(const Deployment& deployment, std::optional<Stated>& draft_model);

/// VLLM_ALLOW_LONG_MAX_MODEL_LEN: the engine takes lengths beyond the model's configuration.
bool allows_long_context(const Deployment& deployment);

}  // namespace kvfit::runtime
