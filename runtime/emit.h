// Serving files from one ServingUnit. One writer a file (emit_*.cc); each returns the whole text, comments first.
//
// Rules all of them keep: the engine's version is pinned; what kvfit decided stands flag by flag; no clock, no host name;
// text that a format would read as something else is quoted; secrets are only named.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "profiles/json.h"
#include "runtime/serving_unit.h"

namespace kvfit::runtime {

struct EmitTarget {
  std::string_view name;    ///< "--to NAME"
  std::string_view what;    ///< one line for help
  std::string_view ending;  ///< of such a file's name
  std::string_view engine;  ///< profiles/serving/ENGINE.yaml of an engine that is not vLLM; empty = vLLM
  bool several_nodes;       ///< can describe more than one machine
  std::string (*write)(const ServingUnit& unit);
};

std::span<const EmitTarget> emit_targets();
const EmitTarget* find_target(std::string_view name);
/// "command|vllm-config|...", for the flag table and messages.
std::string target_names();

std::string command_file(const ServingUnit& unit);
std::string vllm_config_file(const ServingUnit& unit);
std::string compose_file(const ServingUnit& unit);
std::string quadlet_file(const ServingUnit& unit);
std::string systemd_file(const ServingUnit& unit);
std::string kubernetes_file(const ServingUnit& unit);
std::string leaderworkerset_file(const ServingUnit& unit);
std::string ray_file(const ServingUnit& unit);
std::string kserve_file(const ServingUnit& unit);
std::string ray_serve_file(const ServingUnit& unit);
std::string sglang_file(const ServingUnit& unit);
std::string llama_server_file(const ServingUnit& unit);

// --- shared by the writers

/// The header, each line behind "# ".
std::string comments(const ServingUnit& unit);
/// Flags as a map, values typed as the engine reads them: numbers, JSON, lists, true for a switch. `python`: underscores,
/// and a "--no-x" is x: false; otherwise it is no-x: true, since the engine's reader drops false. --port as flag_words has
/// it.
profiles::Json flag_map(const ServingUnit& unit, bool python);
/// "VAR=1 vllm serve MODEL \\" and a flag a line, quoted for a shell; `more` are appended.
std::string serve_text(const ServingUnit& unit, const std::vector<ServeFlag>& more = {});
/// Every `from` replaced by `to`.
std::string replaced(std::string text, std::string_view from, std::string_view to);
/// "2Gi", "512Mi": what Kubernetes reads.
std::string quantity(profiles::Bytes bytes);

/// The pod of one node: container, memory, /dev/shm, volume of models. `arguments` as the container's.
struct PodParts {
  std::string container;             ///< its name
  std::vector<std::string> program;  ///< {"vllm", "serve"}
  std::vector<std::string> arguments;
  bool serves = true;  ///< has the port and the probes
};
profiles::Json pod_spec(const ServingUnit& unit, const PodParts& parts);
/// The claim that holds models and caches, as large as the checkpoint needs.
profiles::Json model_claim(const ServingUnit& unit);
/// Model and flags as a container's arguments; "$(" is kept from being expanded.
std::vector<std::string> container_arguments(const ServingUnit& unit);
/// Documents of one file, "---" between them.
std::string yaml_documents(const ServingUnit& unit, const std::vector<profiles::Json>& documents);

}  // namespace kvfit::runtime
