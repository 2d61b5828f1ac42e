// Shell scripts that start the engine.
#include <string>
#include <utility>
#include <vector>

#include "profiles/text.h"
#include "runtime/deployment_file.h"
#include "runtime/serve_words.h"

namespace kvfit::runtime {

std::vector<ServeCall> shell_calls(const TextPlaces& places) {
  ShellVariables variables;
  const std::vector<ShellCommand> script = read_shell(places, variables);
  std::vector<ServeCall> out = find_serve(script, places, variables);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].kind = "shell";
    if (i > 0) out[i].name = profiles::format("call {}", i + 1);
  }
  return out;
}

}  // namespace kvfit::runtime
