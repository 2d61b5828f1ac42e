// Flags, profiles and files -> a planner::Question, with what kvfit chose itself said in words.
#pragma once

#include <optional>
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
  std::string model_directory;        ///< of a checkpoint on disk, or ""
  std::string model_id;               ///< catalogue id, or "" for a model from a path
  std::vector<std::string> defaults;  ///< sentences: what neither the user nor the engine chose
  std::vector<Input> inputs;
};

/// What stands in for flags that were not given: a boot log states it.
struct Hints {
  std::optional<std::string> gpu, model, engine_version;
  bool engine_defaults = false;  ///< kvfit's own defaults stay out: only what was stated and what the engine would choose
};

/// Throws Error when the GPU, the model or the engine is not known, or flags contradict each other.
BuiltQuestion build_question(const Args& args, const profiles::Catalog& catalog, const Environment& environment,
                             const Hints& hints = {});

}  // namespace kvfit::cli
