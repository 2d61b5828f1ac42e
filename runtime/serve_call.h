// How one deployment calls the engine, before its flags are understood: words after `vllm serve`, environment, image, GPUs.
// The readers of files make these; read_call resolves the flags for the engine's release.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/document.h"
#include "runtime/deployment.h"
#include "runtime/flag_table.h"
#include "runtime/shell_words.h"

namespace kvfit::runtime {

struct ServeCall {
  std::string kind, name;  ///< as in Deployment
  profiles::Where where;
  std::vector<Word> words;               ///< after `vllm serve`: model and flags
  std::optional<profiles::Node> config;  ///< flags as a map: a configuration file that is the deployment itself
  bool python = false;                   ///< `config` holds Python keyword arguments: false and null mean what they say
  std::vector<EnvironmentVariable> environment;
  std::optional<Stated> image;
  GpuRequest gpus;
  std::int64_t nodes = 1;
  std::optional<Stated> engine_version;  ///< said outright (a saved plan)
  bool module = false;                   ///< started as a Python module or by its image: --model is no odd spelling there
  bool wsl2 = false;                     ///< of a saved plan
  std::int64_t experts = 0;              ///< of a saved plan: a carve to so many; 0 = all
  std::map<std::string, std::string, std::less<>> files;  ///< by base name: what a ConfigMap of the same file mounts
};

/// Text of a file that a call names (--config), or nullopt when it is not at hand.
using FileReader = std::function<std::optional<std::string>(const std::string& path)>;

struct CallContext {
  const FlagTable* flags = nullptr;
  std::optional<std::string> engine_version;  ///< said by the user: beats the image's tag
  std::optional<std::string> usual_version;   ///< kvfit.yaml's, where neither says
  std::string default_version;                ///< where nobody says
  FileReader read;                            ///< may be empty
  std::string released_image;                 ///< of the engine as released; any other may have flags of its own
};

/// Throws Error with place when a flag lacks its value or a --config file cannot be parsed. All else that is odd is a
/// Remark.
Deployment read_call(const ServeCall& call, const CallContext& context);

/// "vllm/vllm-openai:v0.24.0-cu130" -> "0.24.0"; nullopt for latest, nightly, a digest alone, or dates as tags.
std::optional<std::string> version_of_image(std::string_view image);

/// The arguments that a configuration file stands for, in its own order; `model` among them. Remarks say what the engine's
/// reader drops or turns into something else (vllm/utils/argparse_utils.py load_config_file).
std::vector<ServeArgument> config_arguments(const profiles::Node& config, bool python, const FlagTable& flags,
                                            const planner::Version& version, std::vector<Remark>& remarks);

/// Command-line words as arguments; the first word that is no flag is the model. Dotted flags (--compilation-config.mode 3)
/// are put together as JSON under the flag's name.
std::vector<ServeArgument> word_arguments(const std::vector<Word>& words, const FlagTable& flags,
                                          const planner::Version& version, std::vector<Remark>& remarks);

}  // namespace kvfit::runtime
