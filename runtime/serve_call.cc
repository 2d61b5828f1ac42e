#include "runtime/serve_call.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/text.h"

namespace kvfit::runtime {
namespace {

using planner::Version;
using profiles::format;
using profiles::Node;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_yaml(const std::string& path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

// --config FILE as two words: the file's arguments, or a remark on why there are none.
std::vector<ServeArgument> named_config(const ServeCall& call, const ServeArgument& config, const CallContext& context,
                                        const Version& version, Deployment& out) {
  std::vector<Remark>& remarks = out.remarks;
  if (!is_yaml(config.value)) {
    remarks.push_back({Remark::Kind::config_extension,
                       format("--config {}: the engine refuses a file that is not named .yaml or .yml", config.value),
                       "rename it", config.where, true});
    return {};
  }
  const auto mounted = call.files.find(base_name(config.value));
  std::optional<std::string> text;
  const std::string folder = config.value.starts_with('/') ? "" : call.where.file.substr(0, call.where.file.rfind('/') + 1);
  const std::string name = mounted != call.files.end() ? call.where.file : folder + config.value;
  if (mounted != call.files.end()) {
    text = mounted->second;
  } else if (context.read) {
    text = context.read(config.value);
  }
  if (!text) {
    remarks.push_back({Remark::Kind::config_missing,
                       format("the configuration file {} is not at hand: its values are not checked", config.value),
                       "check where it is, or put its values on the command line", config.where});
    return {};
  }
  if (mounted == call.files.end()) out.config_files.push_back(name);
  const std::vector<Node> documents = profiles::parse_yaml_stream(std::move(*text), name);
  if (!documents.front().is_map()) documents.front().fail("a configuration file of the engine is a map of flags");
  return config_arguments(documents.front(), false, *context.flags, version, remarks);
}

// "vllm/vllm-openai" by whatever registry: the engine as it was released. Other images may hold forks and plugins with flags
// of their own.
bool other_build(const std::optional<Stated>& image, std::string_view released) {
  if (!image || image->text.empty() || released.empty()) return false;
  const std::string path = image->text.substr(0, image->text.find('@'));
  const std::string name = path.substr(0, path.find(':', path.rfind('/') + 1));
  return name != released && !name.ends_with("/" + std::string(released));
}

void take_model(std::vector<ServeArgument>& arguments, Deployment& out) {
  for (const ServeArgument& one : arguments) {
    if (one.name == "model" && !one.value.empty()) out.model = Stated{one.value, one.where};
  }
  std::erase_if(arguments, [](const ServeArgument& one) { return one.name == "model"; });
}

}  // namespace

std::optional<std::string> version_of_image(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const std::size_t slash = image.rfind('/');
  const std::size_t colon = image.find(':', slash == std::string_view::npos ? 0 : slash);
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view tag = image.substr(colon + 1);
  // "v0.24.0-cu130", "vllm-0.19.0", "rocm7.0_vllm_0.11.2": the first release number after a v, an m or at the start.
  for (std::size_t i = 0; i < tag.size(); ++i) {
    const bool begins = i == 0 || tag[i - 1] == 'v' || tag[i - 1] == '-' || tag[i - 1] == '_';
    if (!begins || std::isdigit(static_cast<unsigned char>(tag[i])) == 0) continue;
    std::size_t end = tag.find_first_not_of("0123456789.", i);
    if (end == std::string_view::npos) end = tag.size();
    if (end + 2 < tag.size() && tag.substr(end, 2) == "rc") {
      end = std::min(tag.find_first_not_of("0123456789", end + 2), tag.size());
    }
    std::string number(tag.substr(i, end - i));
    while (number.ends_with('.')) number.pop_back();
    const bool release = number.starts_with("0.") && planner::parse_version(number).known;
    if (release) return number;
    i = end;
  }
  return std::nullopt;
}

Deployment read_call(const ServeCall& call, const CallContext& context) {
  Deployment out{.kind = call.kind, .name = call.name, .where = call.where};
  out.environment = call.environment;
  out.image = call.image;
  out.gpus = call.gpus;
  out.nodes = call.nodes;
  out.engine_version = call.engine_version;
  out.wsl2 = call.wsl2;
  out.experts = call.experts;
  if (call.image && !out.engine_version) {
    if (const std::optional<std::string> version = version_of_image(call.image->text)) {
      out.engine_version = Stated{*version, call.image->where};
    }
  }
  std::optional<std::string> stated = context.engine_version;
  if (!stated) stated = out.engine_version ? std::optional(out.engine_version->text) : context.usual_version;
  const std::string release = stated.value_or(context.default_version);
  const Version version = planner::parse_version(release);
  std::vector<ServeArgument> words = word_arguments(call.words, *context.flags, version, out.remarks);
  if (call.module) {
    std::erase_if(out.remarks, [](const Remark& one) { return one.kind == Remark::Kind::model_as_flag; });
  }
  std::vector<ServeArgument> first;
  if (call.config) first = config_arguments(*call.config, call.python, *context.flags, version, out.remarks);
  for (const ServeArgument& one : words) {
    if (one.name != "config") continue;
    for (ServeArgument& more : named_config(call, one, context, version, out)) first.push_back(std::move(more));
  }
  std::erase_if(words, [](const ServeArgument& one) { return one.name == "config"; });
  take_model(first, out);
  take_model(words, out);  // the command line beats the file
  out.arguments = std::move(first);
  for (ServeArgument& one : words) out.arguments.push_back(std::move(one));
  const bool other = other_build(call.image, context.released_image);
  for (Remark& one : out.remarks) {
    if (one.kind == Remark::Kind::unknown_flag && other) one.fatal = false;
    if (one.kind == Remark::Kind::other_version && !stated) one.fatal = false;
  }
  return out;
}

}  // namespace kvfit::runtime
