// Flags, profiles and files -> a planner::Question, with what kvfit chose itself said in words.
#pragma once

#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "planner/question.h"
#include "profiles/catalog.h"

namespace kvfit::cli {

struct BuiltQuestion {
  planner::Question question;
  std::string engine, engine_version;
  std::string model_id;               ///< catalogue id, or "" for a model from a path
  std::vector<std::string> defaults;  ///< sentences: what neither the user nor the engine chose
  std::vector<Input> inputs;
};

/// Throws Error when the GPU, the model or the engine is not known, or flags contradict each other.
BuiltQuestion build_question(const Args& args, const profiles::Catalog& catalog, const Environment& environment);

}  // namespace kvfit::cli
