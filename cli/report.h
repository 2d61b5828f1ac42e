// A plan with all that a reader wants beside it, and its renderings. Each returns text; nothing here prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "planner/plan.h"
#include "planner/question.h"
#include "profiles/json.h"
#include "profiles/yaml_text.h"
#include "runtime/serve_command.h"

namespace kvfit::cli {

using profiles::yaml_text;

/// A profile or file the answer was computed from.
struct Input {
  std::string kind;  ///< "hardware", "models", "engines", "published"
  std::string id;
  std::string origin;  ///< path, or "built-in:KIND/ID.yaml"
};

/// A figure that somebody measured and published for a configuration like this one; kvfit only repeats it.
struct Published {
  std::int64_t experts = 0;  ///< 0 = whatever the count
  std::string metric;        ///< "decode", "time_to_first_token", ...: key of the profile
  double low = 0, high = 0;  ///< equal when one figure is given
  std::string unit;          ///< "tok/s", "ms", "%"
  std::string conditions;    ///< "4.4K prompt, one stream"
  std::string source;
  std::string as_of;
};

struct Report {
  std::vector<std::string> arguments;  ///< the flags that the question came from: `kvfit plan` of them asks it again
  planner::Question question;
  planner::Plan plan;
  std::string engine;                 ///< "vllm"
  std::string engine_version;         ///< as asked
  std::vector<std::string> defaults;  ///< what kvfit, not the user or the engine, chose
  std::vector<Input> inputs;
  std::vector<Published> published;
  std::optional<runtime::ServeCommand> serve;  ///< absent when the plan does not run
  bool model_is_directory = false;             ///< the model that is served lies on this machine
  std::string model_directory;                 ///< of a checkpoint on disk, or ""
  std::vector<std::string> differences;        ///< "- derived", "+ stored": what its headers lack or hold beside the config
};

std::string table_text(const Report& report, const Screen& screen);
std::string markdown_text(const Report& report);

/// The envelope {schema, format_version, kvfit_version, inputs, result, findings} of `kvfit schema plan`.
profiles::Json json_value(const Report& report);

/// Its `result` alone.
profiles::Json result_json(const Report& report);

/// Two blanks a level, newline at the end.
std::string json_text(const profiles::Json& value);

}  // namespace kvfit::cli
