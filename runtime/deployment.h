// A deployment as somebody wrote it: how `vllm serve` is called, from which image, on which GPUs, and where each word
// stands.
//
//   file -> readers (compose_file.h, kubernetes_file.h, ...) -> ServeCall -> read_call (serve_call.h) -> Deployment
//        -> serving_of (deployment_serving.h) -> planner::Serving;   serve_command (below) -> the same call again
//
// Nothing is judged here: what a reader noticed (a flag that is not known, a key that the engine drops) is a Remark, which
// cli/ turns into a finding. Places are of the file that states the word.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/error.h"
#include "runtime/serve_command.h"

namespace kvfit::runtime {

/// A value with the place that states it.
struct Stated {
  std::string text;
  profiles::Where where;
};

/// One flag of the engine, its name resolved: "-tp 2", "--tensor_parallel_size=2" and `tensor-parallel-size: 2` are alike.
struct ServeArgument {
  std::string name;       ///< long name without dashes: "tensor-parallel-size"
  std::string value;      ///< as written ("32K", "{...}"); empty for a switch; list items joined by blanks
  bool off = false;       ///< --no-NAME
  std::string spelled;    ///< as written: "-tp", "--tensor_parallel_size", "tensor-parallel-size"
  profiles::Where where;  ///< of the flag (command line) or of the key's value (configuration file)
};

struct EnvironmentVariable {
  std::string name, value;
  profiles::Where where;
};

/// GPUs that the deployment asks its platform for.
struct GpuRequest {
  std::optional<std::int64_t> count;  ///< of one replica, all its nodes together; absent: all, or not stated
  std::optional<Stated> product;      ///< node selector, accelerator type: "NVIDIA-H100-80GB-HBM3", "nvidia-l4"
  profiles::Where where;              ///< of the count
};

/// What the readers noticed on the way.
struct Remark {
  enum class Kind {
    unknown_flag,      ///< no release of the engine has it
    other_version,     ///< this release does not know it (not yet, or no more)
    dropped_key,       ///< `key: false` of a configuration file, which the engine's reader leaves out
    null_value,        ///< `key: null`, which becomes the text "None"
    short_key,         ///< a short name as a key: the parser refuses it
    config_not_read,   ///< --config=FILE: only two words make the engine read the file
    config_missing,    ///< --config FILE that is not at hand
    config_extension,  ///< --config FILE without .yaml or .yml: refused
    repeated,          ///< the same flag twice: the last one holds
    unset_variable,    ///< a value holds a variable that nothing at hand sets
    stray_word,        ///< a word that belongs to no flag
    model_as_flag,     ///< --model with `vllm serve`: deprecated
  };
  Kind kind;
  std::string text;  ///< one sentence without full stop
  std::string hint;  ///< how to mend it; may be empty
  profiles::Where where;
  bool fatal = false;  ///< the engine does not start with it
};

struct Deployment {
  std::string
      kind;  ///< "command line", "vllm config", "compose", "kubernetes", "ray serve", "systemd", "quadlet", "shell", "plan"
  std::string name;       ///< within its file: "service vllm", "Deployment/qwen"; may be empty
  profiles::Where where;  ///< where the call begins
  std::optional<Stated> model;
  std::vector<ServeArgument> arguments;  ///< in the order the engine's parser sees them: a later one of the same name wins
  std::vector<EnvironmentVariable> environment;
  std::optional<Stated> image;
  std::optional<Stated> engine_version;  ///< from the image's tag: "0.24.0"
  GpuRequest gpus;
  std::int64_t nodes = 1;                 ///< machines of one replica (LeaderWorkerSet size)
  std::int64_t experts = 0;               ///< saved plan: the model carved to so many experts; 0 = as it is
  bool wsl2 = false;                      ///< saved plan: made for WSL2
  std::vector<std::string> config_files;  ///< read for --config, as seen from where kvfit runs
  std::vector<Remark> remarks;
};

/// The argument that holds, i.e. the last of that name; nullptr when there is none.
const ServeArgument* argument(const Deployment& deployment, std::string_view name);

/// A variable's value; the last one holds.
const EnvironmentVariable* variable(const Deployment& deployment, std::string_view name);

/// Where to point when one of the flags is to blame: the first that is stated, else the call itself.
profiles::Where place_of(const Deployment& deployment, std::initializer_list<std::string_view> names);

/// The call as an argument list again: model, every argument that holds, in order, under its long name. Nothing is lost:
/// what kvfit does not price (ports, parsers, names) is kept as it is.
ServeCommand serve_command(const Deployment& deployment);

}  // namespace kvfit::runtime
