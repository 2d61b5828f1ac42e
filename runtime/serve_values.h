// Values of the engine's flags that are objects of their own: what they mean for a plan. Shared by kvfit's own flags and by
// deployments. All throw Error; `name` stands for the file in its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/question.h"

namespace kvfit::runtime {

/// --limit-mm-per-prompt: true when nothing may come in. '{"image":0,"video":0}', "image": {"count": 0, ...}, or the older
/// "image=0,video=0".
bool no_items_allowed(const std::string& text, const std::string& name);

struct SpeculativeConfig {
  planner::Speculative value;              ///< method inferred where it is absent, as the engine does
  std::optional<std::string> draft_model;  ///< path or id of "model"
};

/// --speculative-config. `strict`: a key that the engine does not have is an Error.
SpeculativeConfig read_speculative(const std::string& text, const std::string& name, bool strict);

/// --compilation-config (JSON, or the level alone): what of it concerns memory.
struct CompilationConfig {
  std::vector<std::int64_t> capture_sizes;
  std::optional<std::int64_t> max_capture_size;
  std::string cudagraph_mode;  ///< "" = not stated
  bool eager = false;          ///< level 0: neither compiled nor captured
};
CompilationConfig read_compilation(const std::string& text, const std::string& name);

/// --eplb-config: num_redundant_experts, or 0.
std::int64_t redundant_experts(const std::string& text, const std::string& name);

}  // namespace kvfit::runtime
