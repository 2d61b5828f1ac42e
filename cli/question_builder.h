// Flags, profiles and files -> a planner::Question, with what kvfit chose itself said in words.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "cli/this_gpu.h"
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
  std::string missing_draft;  ///< with Asked::missing_draft: which weights speculation lacks; "" = none
};

/// What flags or a deployment state; absent is what nobody said.
struct Asked {
  const Args* args = nullptr;  ///< whose flags say how this machine's GPU is found (--gpu auto); must outlive the question
  std::shared_ptr<const ThisGpu> this_gpu;  ///< what --gpu auto found before; looked for when absent
  planner::Serving serving;
  std::optional<std::string> draft_model;
  planner::Search search;
  planner::Confidence confidence = planner::Confidence::ninety;
  bool allow_fallback = false;
  std::optional<std::string> gpu, model, engine, engine_version;
  std::optional<std::int64_t> gpus;
  std::string system, link;  ///< as --system and --link take them; "" = not stated
  profiles::Bytes used_elsewhere;
  bool spread_stated = false;    ///< tp, pp or dp was said
  bool kv_cache_stated = false;  ///< the cache's type was said
  bool long_context = false;     ///< lengths beyond the model's configuration are taken (VLLM_ALLOW_LONG_MAX_MODEL_LEN)
  bool missing_draft = false;    ///< speculation without draft weights is left out of the question, not an Error
};

/// What stands in for flags that were not given: a boot log states it.
struct Hints {
  std::optional<std::string> gpu, model, engine_version;
  bool engine_defaults = false;  ///< kvfit's own defaults stay out: only what was stated and what the engine would choose
};

Asked asked_from(const Args& args);

/// `engine_defaults`: kvfit's own defaults stay out. Throws as below.
BuiltQuestion build_question(const Asked& asked, const profiles::Catalog& catalog, const Environment& environment,
                             bool engine_defaults);

/// Throws Error when the GPU, the model or the engine is not known, or flags contradict each other.
BuiltQuestion build_question(const Args& args, const profiles::Catalog& catalog, const Environment& environment,
                             const Hints& hints = {});

}  // namespace kvfit::cli
