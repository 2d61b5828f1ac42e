// A file -> the deployments in it. The kind is told by the content: compose (`services`), Kubernetes (`apiVersion`, `kind`),
// Ray Serve (`applications`), a configuration file of vLLM (a flat map of flags), a systemd unit or quadlet ([Service],
// [Container]), a saved plan of kvfit (JSON), anything else is read as a shell script.
#pragma once

#include <string>
#include <vector>

#include "runtime/serve_call.h"

namespace kvfit::runtime {

/// A text larger than this is no deployment.
inline constexpr std::int64_t kLargestDeployment = std::int64_t{1} << 20;

struct FileContext {
  const FlagTable* flags = nullptr;
  FileReader read;  ///< files beside the deployment: .env, EnvironmentFile; relative to its directory
};

/// Every call in the text, in its order; empty when it holds none. `file` is the name for places. Throws Error(Fault::input)
/// with place when the text cannot be read as what it is.
std::vector<ServeCall> find_calls(const std::string& text, const std::string& file, const FileContext& context);

/// Cheap: whether the text may hold a deployment at all (it names vLLM, or is a saved plan).
bool may_hold_deployment(std::string_view text);

// --- the readers, one a kind

std::vector<ServeCall> compose_calls(const profiles::Node& root, const TextPlaces& places, const FileReader& read);
std::vector<ServeCall> kubernetes_calls(const std::vector<profiles::Node>& documents, const TextPlaces& places);
/// `applications:` with llm_configs, in a file of its own or in a RayService.
std::vector<ServeCall> ray_serve_calls(const profiles::Node& root, const std::string& name);
std::vector<ServeCall> unit_calls(const TextPlaces& places, const FileReader& read);
std::vector<ServeCall> shell_calls(const TextPlaces& places);
/// Throws Error when a document is no plan that `kvfit plan --format json` wrote, or of another major format_version.
void refuse_other_plans(const profiles::Node& root);
/// A saved plan: the call it planned. Throws Error as above.
std::vector<ServeCall> plan_calls(const profiles::Node& root);

}  // namespace kvfit::runtime
