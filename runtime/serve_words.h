// Where in a command line the engine is called: `vllm serve`, `python -m vllm.entrypoints.openai.api_server`, `docker run
// IMAGE`, `sh -c "..."`, or the arguments of a container whose image starts the engine by itself.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/serve_call.h"

namespace kvfit::runtime {

/// Every call of the engine in the words of one command; `kind` and `name` are left empty. `places` is the file in which the
/// words stand, `known` the variables of the script around them.
std::vector<ServeCall> find_serve(const std::vector<Word>& words, const TextPlaces& places,
                                  const ShellVariables& known = {});

/// Every call in a script, in order; exports and prefixed assignments become the call's environment.
std::vector<ServeCall> find_serve(const std::vector<ShellCommand>& script, const TextPlaces& places,
                                  const ShellVariables& known);

/// A container: its image's own program is replaced by `entrypoint` (empty: not), `arguments` follow it; `known` is its
/// environment, which a shell inside it sees.
std::vector<ServeCall> serve_of_container(const Stated& image, const std::vector<Word>& entrypoint,
                                          const std::vector<Word>& arguments, const TextPlaces& places,
                                          const ShellVariables& known);

/// An environment as a shell has it.
ShellVariables shell_variables(const std::vector<EnvironmentVariable>& environment);

/// An image that starts vLLM's server by itself: "vllm/vllm-openai:v0.24.0", "rocm/vllm", "nvcr.io/nvidia/vllm".
bool starts_vllm(std::string_view image);

}  // namespace kvfit::runtime
