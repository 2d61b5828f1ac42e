// Containers on one machine: docker compose and podman quadlet. Sources: compose-spec (services, deploy),
// podman-systemd.unit(5).
#include <string>
#include <utility>
#include <vector>

#include "profiles/json.h"
#include "profiles/text.h"
#include "profiles/yaml_text.h"
#include "runtime/emit.h"

namespace kvfit::runtime {
namespace {

using profiles::format;
using profiles::Json;

std::string health_probe(const ServingUnit& unit) {
  return format("import urllib.request; urllib.request.urlopen('http://127.0.0.1:{}{}', timeout=5)", unit.port, unit.health);
}

std::pair<std::string, std::string> variable_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// A directory keeps its name inside: a relative one below /models, where the container starts, an absolute one as it is.
std::string mount_of(const ServingUnit& unit) {
  const std::string& model = unit.command.model;
  if (model.starts_with('/')) return format("{}:{}:ro", model, model);
  const std::string inner = model.starts_with("./") ? model.substr(2) : model;
  return format("{}:/models/{}:ro", model.starts_with('.') ? model : "./" + model, inner);
}

bool starts_in_models(const ServingUnit& unit) { return unit.model_is_directory && !unit.command.model.starts_with('/'); }

// $ begins a variable in a compose file.
std::string literal(std::string text) { return replaced(std::move(text), "$", "$$"); }

}  // namespace

std::string compose_file(const ServingUnit& unit) {
  Json service = {{"image", pinned_image(unit)}, {"entrypoint", {"vllm", "serve"}}};
  Json words = {literal(unit.command.model)};
  for (const std::string& word : flag_words(unit)) words.push_back(literal(word));
  service["command"] = std::move(words);
  Json environment = Json::object();
  for (const std::string& text : unit.command.environment) {
    const auto [name, value] = variable_of(text);
    environment[name] = literal(value);
  }
  if (!unit.model_is_directory) environment["HF_TOKEN"] = "${HF_TOKEN:-}";
  if (!environment.empty()) service["environment"] = std::move(environment);
  if (starts_in_models(unit)) service["working_dir"] = "/models";
  service["volumes"] = {"cache:/root/.cache"};
  if (unit.model_is_directory) service["volumes"].push_back(mount_of(unit));
  service["ports"] = {format("{}:{}", unit.port, unit.port)};
  service["shm_size"] = format("{}mb", unit.shared_memory.count / profiles::kMiB);
  service["restart"] = "on-failure:3";
  service["healthcheck"] = {{"test", {"CMD", "python3", "-c", health_probe(unit)}},
                            {"interval", "30s"},
                            {"timeout", "10s"},
                            {"retries", 3},
                            {"start_period", format("{}s", unit.start.wait_seconds)}};
  const Json device = {{"driver", "nvidia"}, {"count", unit.gpus}, {"capabilities", {"gpu"}}};
  service["deploy"]["resources"]["reservations"]["devices"] = Json::array({device});
  const Json out = {{"services", {{unit.name, service}}}, {"volumes", {{"cache", Json::object()}}}};
  return comments(unit) + profiles::yaml_text(out);
}

std::string quadlet_file(const ServingUnit& unit) {
  const auto quoted = [](const std::string& word) {
    std::string text = replaced(word, "%", "%%");
    if (text.find_first_of(" \t\"'\\;#") == std::string::npos) return text;
    return "\"" + replaced(replaced(std::move(text), "\\", "\\\\"), "\"", "\\\"") + "\"";
  };
  std::string out = comments(unit);
  out += format("# as ~/.config/containers/systemd/{}.container or /etc/containers/systemd/{}.container\n", unit.name,
                unit.name);
  out += format("[Unit]\nDescription=vLLM: {}\n", replaced(unit.command.model, "%", "%%"));
  out += format("\n[Container]\nContainerName={}\nImage={}\n", unit.name, pinned_image(unit));
  out += "Entrypoint=vllm\n";
  out += format("Exec=serve {}", quoted(unit.command.model));
  for (const std::string& word : flag_words(unit)) out += format(" \\\n  {}", quoted(word));
  out += "\n";
  for (std::int64_t i = 0; i < unit.gpus; ++i) out += format("AddDevice=nvidia.com/gpu={}\n", i);
  out += format("PublishPort={}:{}\n", unit.port, unit.port);
  out += format("Volume={}-cache:/root/.cache\n", unit.name);
  if (unit.model_is_directory) out += format("Volume={}\n", mount_of(unit));
  if (starts_in_models(unit)) out += "WorkingDir=/models\n";
  for (const std::string& variable : unit.command.environment) out += format("Environment={}\n", quoted(variable));
  if (!unit.model_is_directory) out += "# gated models: Secret=hf-token,type=env,target=HF_TOKEN\n";
  out += format("ShmSize={}m\n", unit.shared_memory.count / profiles::kMiB);
  out += format("HealthCmd=python3 -c \"{}\"\nHealthStartPeriod={}s\nNotify=healthy\n", health_probe(unit),
                unit.start.wait_seconds);
  out += format("\n[Service]\nRestart=on-failure\nTimeoutStartSec={}\n", unit.start.wait_seconds);
  return out + "\n[Install]\nWantedBy=multi-user.target default.target\n";
}

}  // namespace kvfit::runtime
