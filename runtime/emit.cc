#include "runtime/emit.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/json.h"
#include "profiles/text.h"
#include "profiles/yaml_text.h"

namespace kvfit::runtime {
namespace {

using profiles::format;
using profiles::Json;

constexpr std::array kTargets = {
    EmitTarget{"command", "vllm serve, one flag a line (shell)", ".sh", "", false, command_file},
    EmitTarget{"vllm-config", "YAML for vllm serve --config", ".yaml", "", false, vllm_config_file},
    EmitTarget{"compose", "docker compose service", ".yaml", "", false, compose_file},
    EmitTarget{"quadlet", "podman quadlet (NAME.container)", ".container", "", false, quadlet_file},
    EmitTarget{"systemd", "systemd unit that runs vllm on the host", ".service", "", false, systemd_file},
    EmitTarget{"kubernetes", "Deployment, Service and volume claim", ".yaml", "", false, kubernetes_file},
    EmitTarget{"leaderworkerset", "LeaderWorkerSet over several nodes", ".yaml", "", true, leaderworkerset_file},
    EmitTarget{"ray", "shell script for the nodes of a Ray cluster", ".sh", "", true, ray_file},
    EmitTarget{"kserve", "KServe InferenceService", ".yaml", "", false, kserve_file},
    EmitTarget{"ray-serve", "Ray Serve LLM application", ".yaml", "", false, ray_serve_file},
    EmitTarget{"sglang", "sglang.launch_server (shell)", ".sh", "sglang", false, sglang_file},
    EmitTarget{"llama-server", "llama.cpp's server (shell); needs --gguf", ".sh", "llama-server", false, llama_server_file},
};

bool whole_number(std::string_view text) {
  const bool digits =
      !text.empty() && text.size() < 19 && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits && (text.size() == 1 || text.front() != '0');
}

bool decimal(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos || point == 0) return false;
  const std::string_view after = text.substr(point + 1);
  const bool digits = !after.empty() && std::ranges::all_of(after, [](unsigned char c) { return std::isdigit(c) != 0; });
  return whole_number(text.substr(0, point)) && digits;
}

Json typed(const std::string& text) {
  if (whole_number(text) || decimal(text)) return Json::parse(text);
  if (text.starts_with('{') || text.starts_with('[')) {
    Json out = Json::parse(text, nullptr, false);
    if (!out.is_discarded()) return out;
  }
  return text;
}

}  // namespace

std::span<const EmitTarget> emit_targets() { return kTargets; }

const EmitTarget* find_target(std::string_view name) {
  for (const EmitTarget& target : kTargets) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

std::string target_names() {
  std::string out;
  for (const EmitTarget& target : kTargets) out += (out.empty() ? "" : "|") + std::string(target.name);
  return out;
}

std::string comments(const ServingUnit& unit) {
  std::string out;
  for (const std::string& line : unit.header) out += line.empty() ? "#\n" : "# " + line + "\n";
  for (const std::string& line : unit.left_out) out += "# left out: " + line + "\n";
  return out;
}

Json flag_map(const ServingUnit& unit, bool python) {
  Json out = Json::object();
  for (const ServeFlag& flag : unit.command.flags) {
    std::string name = flag.name.substr(2);
    const bool off = python && flag.value.empty() && name.starts_with("no-");
    if (off) name.erase(0, 3);
    if (python) std::ranges::replace(name, '-', '_');
    const std::vector<std::string> items = list_words(unit, flag);
    if (flag.value.empty()) {
      out[name] = !off;
    } else if (items.empty()) {
      out[name] = typed(flag.value);
    } else {
      out[name] = Json::array();
      for (const std::string& item : items) out[name].push_back(typed(item));
    }
  }
  if (!python && unit.port != unit.default_port) out["port"] = unit.port;
  return out;
}

std::string serve_text(const ServingUnit& unit, const std::vector<ServeFlag>& more) {
  std::string out;
  for (const std::string& variable : unit.command.environment) {
    const std::size_t equals = variable.find('=');
    out += variable.substr(0, equals) + "=" + shell_quoted(variable.substr(equals + 1)) + " ";
  }
  out += "vllm serve " + shell_quoted(unit.command.model);
  std::vector<ServeFlag> flags = unit.command.flags;
  flags.insert(flags.end(), more.begin(), more.end());
  if (unit.port != unit.default_port) flags.push_back({"--port", std::to_string(unit.port)});
  for (const ServeFlag& flag : flags) {
    out += " \\\n  " + flag.name;
    const std::vector<std::string> items = list_words(unit, flag);
    for (const std::string& item : items) out += " " + shell_quoted(item);
    if (items.empty() && !flag.value.empty()) out += " " + shell_quoted(flag.value);
  }
  return out;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string quantity(profiles::Bytes bytes) {
  if (bytes.count % profiles::kGiB == 0) return format("{}Gi", bytes.count / profiles::kGiB);
  return format("{}Mi", profiles::cdiv(bytes.count, profiles::kMiB));
}

std::vector<std::string> container_arguments(const ServingUnit& unit) {
  std::vector<std::string> out = {unit.command.model};
  for (std::string& word : flag_words(unit)) out.push_back(std::move(word));
  for (std::string& word : out) word = replaced(std::move(word), "$(", "$$(");
  return out;
}

std::string yaml_documents(const ServingUnit& unit, const std::vector<Json>& documents) {
  std::string out = comments(unit);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (i > 0) out += "---\n";
    out += profiles::yaml_text(documents[i]);
  }
  return out;
}

}  // namespace kvfit::runtime
