#include "runtime/deployment_file.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/text.h"

namespace kvfit::runtime {
namespace {

using profiles::Node;

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [text](std::string_view end) { return text.ends_with(end); });
}

std::string_view first_line(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start != std::string_view::npos && line[start] != '#' && line[start] != ';') return line.substr(start);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

bool is_unit(std::string_view text, std::string_view file) {
  if (ends_with_any(file, {".service", ".container"})) return true;
  const std::string_view line = first_line(text);
  return line.starts_with("[Unit]") || line.starts_with("[Service]") || line.starts_with("[Container]");
}

// A flat map of flags: half of the keys or more are known, and one of them matters to memory or names the model.
bool is_engine_config(const Node& root, const FlagTable& flags) {
  std::size_t known = 0;
  bool telling = false;
  for (const auto& [key, value] : root.members()) {
    const EngineFlag* flag = flags.find("--" + key, {}).flag;
    if (flag == nullptr) continue;
    ++known;
    telling = telling || flag->priced;
  }
  return telling && 2 * known >= root.members().size();
}

std::vector<ServeCall> yaml_calls(const std::string& text, const std::string& file, const FileContext& context) {
  const std::vector<Node> documents = profiles::parse_yaml_stream(text, file);
  const TextPlaces places(file, text);
  const Node& first = documents.front();
  for (const Node& document : documents) {
    if (document.is_map() && document.has("apiVersion") && document.has("kind")) {
      return kubernetes_calls(documents, places);
    }
  }
  if (!first.is_map()) return {};
  if (first.has("services")) return compose_calls(first, places, context.read);
  if (first.has("applications")) return ray_serve_calls(first, "");
  if (!is_engine_config(first, *context.flags)) return {};
  ServeCall out{.kind = "vllm config", .name = {}, .where = places.at(0)};
  out.config = first;
  return {out};
}

std::vector<ServeCall> json_calls(const std::string& text, const std::string& file, const FileContext& context) {
  const Node root = profiles::parse_json(text, file);
  const Node* schema = root.is_map() ? root.find("schema") : nullptr;
  if (schema != nullptr && schema->is_string() && schema->string() == "kvfit.plan") return plan_calls(root);
  const TextPlaces places(file, text);
  if (root.is_map() && root.has("apiVersion")) return kubernetes_calls({root}, places);
  if (root.is_map() && root.has("services")) return compose_calls(root, places, context.read);
  return {};
}

}  // namespace

bool may_hold_deployment(std::string_view text) {
  for (const std::string_view sign : {"vllm", "VLLM", "vLLM", "\"kvfit.plan\"", "llm_configs", "gpu-memory-utilization",
                                      "gpu_memory_utilization", "max-model-len", "max_model_len"}) {
    if (text.find(sign) != std::string_view::npos) return true;
  }
  return false;
}

std::vector<ServeCall> find_calls(const std::string& text, const std::string& file, const FileContext& context) {
  if (static_cast<std::int64_t>(text.size()) > kLargestDeployment) {
    profiles::fail_input(profiles::format("{} bytes are too many for a deployment", text.size()), {.file = file},
                         "kvfit reads files of up to 1 MiB");
  }
  if (ends_with_any(file, {".json"}) || first_line(text).starts_with("{")) return json_calls(text, file, context);
  if (ends_with_any(file, {".yaml", ".yml"})) return yaml_calls(text, file, context);
  const TextPlaces places(file, text);
  if (is_unit(text, file)) return unit_calls(places, context.read);
  const std::string_view line = first_line(text);
  const std::size_t key = line.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.0123456789");
  const bool keyed = key != std::string_view::npos && key > 0 && line[key] == ':' && line.substr(key, 2) != "::";
  const bool yaml = keyed || line.starts_with("---");
  return yaml ? yaml_calls(text, file, context) : shell_calls(places);
}

}  // namespace kvfit::runtime
