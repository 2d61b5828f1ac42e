// docker compose: services whose image or command starts vLLM. Source: compose-spec (services, interpolation, deploy).
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/quantity.h"
#include "profiles/text.h"
#include "runtime/deployment_file.h"
#include "runtime/interpolation.h"
#include "runtime/serve_words.h"

namespace kvfit::runtime {
namespace {

using profiles::format;
using profiles::Node;
using Settings = std::map<std::string, std::string, std::less<>>;

// NAME=value lines of an env file; quotes around a value are taken off.
void read_env_file(const std::string& text, Settings& out) {
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("export ")) line.remove_prefix(7);
    const std::size_t equals = line.find('=');
    if (line.empty() || line.front() == '#' || equals == std::string_view::npos) continue;
    std::string_view value = line.substr(equals + 1);
    const bool quoted = value.size() > 1 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front();
    if (quoted) value = value.substr(1, value.size() - 2);
    out[std::string(line.substr(0, equals))] = std::string(value);
  }
}

class Service {
 public:
  Service(const Node& node, const TextPlaces& places, const FileReader& read, const Settings& settings)
      : node_(node), places_(places), read_(read) {
    lookup_ = [&settings](std::string_view name) -> std::optional<std::string> {
      const Settings::const_iterator found = settings.find(name);
      return found == settings.end() ? std::nullopt : std::optional(found->second);
    };
  }

  std::vector<ServeCall> calls(const std::string& name) {
    const Node* image = node_.find("image");
    const Stated stated = image == nullptr ? Stated{"", node_.where()} : Stated{put_in(*image).text, image->where()};
    const std::vector<EnvironmentVariable> environment = variables();
    std::vector<ServeCall> out =
        serve_of_container(stated, words("entrypoint"), words("command"), places_, shell_variables(environment));
    const GpuRequest gpus = requested();
    for (std::size_t i = 0; i < out.size(); ++i) {
      ServeCall& call = out[i];
      call.kind = "compose";
      call.name = i == 0 ? format("service {}", name) : format("service {}, call {}", name, i + 1);
      call.environment.insert(call.environment.begin(), environment.begin(), environment.end());
      if (stated.text.empty()) call.image.reset();
      if (!call.gpus.count) call.gpus = gpus;
    }
    return out;
  }

 private:
  Word put_in(const Node& node) const { return interpolate(node.scalar_text(), node.where(), lookup_); }

  // A list is taken word by word, a text is split as a shell would.
  std::vector<Word> words(std::string_view key) const {
    const Node* node = node_.find(key);
    std::vector<Word> out;
    if (node == nullptr) return out;
    if (node->is_list()) {
      for (const Node& item : node->list()) {
        Word word = put_in(item);
        // "${ARGUMENT:-}" that is empty is still a word, and the engine would refuse it; compose drops none.
        out.push_back(std::move(word));
      }
      return out;
    }
    ShellVariables none;
    for (ShellCommand& command : read_shell_inside(put_in(*node).text, places_, node->where(), none)) {
      for (Word& word : command.words) out.push_back(std::move(word));
    }
    return out;
  }

  std::vector<EnvironmentVariable> variables() const {
    std::vector<EnvironmentVariable> out;
    const auto from_file = [&](const Node& entry) {
      const Node* named = entry.is_map() ? entry.find("path") : nullptr;  // {path: x.env, required: false}
      const Node& path = named != nullptr ? *named : entry;
      const std::optional<std::string> text = read_ && path.is_string() ? read_(path.string()) : std::nullopt;
      Settings settings;
      if (text) read_env_file(*text, settings);
      for (auto& [name, value] : settings) out.push_back({name, value, path.where()});
    };
    if (const Node* files = node_.find("env_file")) {
      if (files->is_list()) {
        for (const Node& file : files->list()) from_file(file);
      } else {
        from_file(*files);
      }
    }
    const Node* node = node_.find("environment");
    if (node == nullptr) return out;
    if (node->is_map()) {
      for (const auto& [name, value] : node->members()) {
        if (!value.is_null()) out.push_back({name, put_in(value).text, value.where()});
      }
      return out;
    }
    for (const Node& item : node->list()) {
      const std::string text = put_in(item).text;
      const std::size_t equals = text.find('=');
      if (equals != std::string::npos) out.push_back({text.substr(0, equals), text.substr(equals + 1), item.where()});
    }
    return out;
  }

  // deploy.resources.reservations.devices, or `gpus:`; "all" leaves the count open.
  GpuRequest requested() const {
    GpuRequest out;
    const Node* at = &node_;
    for (const std::string_view key : {"deploy", "resources", "reservations", "devices"}) {
      at = at == nullptr || !at->is_map() ? nullptr : at->find(key);
    }
    if (at != nullptr && at->is_list()) {
      for (const Node& device : at->list()) count(device, out);
    }
    const Node* gpus = node_.find("gpus");
    if (gpus != nullptr && gpus->is_list()) {
      for (const Node& device : gpus->list()) count(device, out);
    }
    return out;
  }
  void count(const Node& device, GpuRequest& out) const {
    const Node* ids = device.is_map() ? device.find("device_ids") : nullptr;
    const Node* number = device.is_map() ? device.find("count") : nullptr;
    if (ids != nullptr && ids->is_list()) {
      out.count = static_cast<std::int64_t>(ids->list().size());
      out.where = ids->where();
    } else if (number != nullptr && !number->is_map() && !number->is_list()) {
      const std::optional<std::int64_t> count = profiles::read_count(put_in(*number).text);  // "all" is none
      if (!count || *count < 0 || *count > 1'000'000) return;
      out.count = count;
      out.where = number->where();
    }
  }

  const Node& node_;
  const TextPlaces& places_;
  const FileReader& read_;
  Lookup lookup_;
};

}  // namespace

std::vector<ServeCall> compose_calls(const Node& root, const TextPlaces& places, const FileReader& read) {
  Settings settings;
  if (read) {
    if (const std::optional<std::string> text = read(".env")) read_env_file(*text, settings);
  }
  std::vector<ServeCall> out;
  const Node& services = root.at("services");
  if (!services.is_map()) return out;
  for (const auto& [name, service] : services.members()) {
    if (!service.is_map()) continue;
    for (ServeCall& call : Service(service, places, read, settings).calls(name)) out.push_back(std::move(call));
  }
  return out;
}

}  // namespace kvfit::runtime
