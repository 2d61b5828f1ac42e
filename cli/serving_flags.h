// Flags -> how the model is served and what the search may vary, in the planner's words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/args.h"
#include "planner/question.h"

namespace kvfit::cli {

/// What the flags say and nothing else: no default of kvfit is filled in. Throws Error when two flags contradict each other
/// or a JSON value cannot be used. `draft_model` receives the path or id of --speculative-config's "model".
planner::Serving serving_from(const Args& args, std::optional<std::string>& draft_model);

/// Contexts, sequences and experts that were stated are fixed; the others are searched.
planner::Search search_from(const Args& args);

planner::Confidence confidence_from(const Args& args);

/// --margin: bytes, or a share of the device; 0 when absent.
profiles::Bytes margin_from(const Args& args, profiles::Bytes total);
/// The same for its text: "512MiB" or "5%".
profiles::Bytes margin_of(const std::string& text, profiles::Bytes total);

}  // namespace kvfit::cli
