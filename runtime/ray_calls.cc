// Ray Serve LLM: applications whose args hold llm_configs; engine_kwargs are vLLM's own names as Python values.
// Source: ray.serve.llm LLMConfig (docs.ray.io, serving LLMs).
#include <string>
#include <utility>
#include <vector>

#include "profiles/text.h"
#include "runtime/deployment_file.h"

namespace kvfit::runtime {
namespace {

using profiles::format;
using profiles::Node;

const Node* find_in(const Node& node, std::string_view outer, std::string_view inner) {
  const Node* at = node.is_map() ? node.find(outer) : nullptr;
  return at != nullptr && at->is_map() ? at->find(inner) : nullptr;
}

std::optional<ServeCall> call_of(const Node& config) {
  if (!config.is_map()) return std::nullopt;
  const Node* id = find_in(config, "model_loading_config", "model_id");
  const Node* source = find_in(config, "model_loading_config", "model_source");
  const Node* model = source != nullptr && source->is_string() ? source : id;
  if (model == nullptr || !model->is_string()) return std::nullopt;
  ServeCall out;
  out.where = model->where();
  out.words = {{.text = model->string(), .where = model->where()}};
  const Node* kwargs = config.find("engine_kwargs");
  if (kwargs != nullptr && kwargs->is_map()) {
    out.config = *kwargs;
    out.python = true;
  }
  const Node* accelerator = config.find("accelerator_type");
  if (accelerator != nullptr && accelerator->is_string()) {
    out.gpus.product = Stated{accelerator->string(), accelerator->where()};
  }
  return out;
}

}  // namespace

std::vector<ServeCall> ray_serve_calls(const Node& root, const std::string& name) {
  std::vector<ServeCall> out;
  const Node* applications = root.is_map() ? root.find("applications") : nullptr;
  if (applications == nullptr || !applications->is_list()) return out;
  for (const Node& application : applications->list()) {
    const Node* configs = find_in(application, "args", "llm_configs");
    if (configs == nullptr || !configs->is_list()) continue;
    for (const Node& config : configs->list()) {
      std::optional<ServeCall> call = call_of(config);
      if (!call) continue;
      const Node* own = application.find("name");
      const std::string label = own != nullptr && own->is_string() ? own->string() : "?";
      call->kind = "ray serve";
      call->name = name.empty() ? format("application {}", label) : format("{}, application {}", name, label);
      out.push_back(std::move(*call));
    }
  }
  return out;
}

}  // namespace kvfit::runtime
