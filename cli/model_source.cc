#include "cli/model_source.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "models/catalogue.h"
#include "models/checkpoint.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

namespace fs = std::filesystem;
using profiles::Catalog;
using profiles::format;
using profiles::Node;

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::shared_ptr<const models::TensorInventory> derived(const models::Model& model) {
  return std::make_shared<const models::TensorInventory>(models::derive_inventory(model));
}

// JSON begins with a brace; everything else is YAML.
ModelSource from_text(std::string text, const std::string& name, const std::string& id) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && text[first] == '{';
  const Node document = json ? profiles::parse_json(std::move(text), name) : profiles::parse_yaml(std::move(text), name);
  ModelSource out;
  out.model = models::read_model(document, id, name).model;
  out.inventory = derived(out.model);
  out.inputs = {{"models", id, name}};
  out.remarks = {format("weights: bytes derived from {}, no safetensors headers at hand", name)};
  return out;
}

std::string directory_name(const models::Checkpoint& checkpoint) {
  const std::string name = fs::path(checkpoint.directory).lexically_normal().filename().string();
  return name.empty() || name == "." ? fs::weakly_canonical(checkpoint.directory).filename().string() : name;
}

models::Model model_of(const models::Checkpoint& checkpoint, const std::string& id) {
  const Node config = profiles::parse_json(profiles::read_text_file(checkpoint.config), checkpoint.config);
  if (checkpoint.quant_config.empty()) return models::read_model(config, id, checkpoint.config).model;
  const Node quant = profiles::parse_json(profiles::read_text_file(checkpoint.quant_config), checkpoint.quant_config);
  return models::read_model(config, id, checkpoint.config, &quant).model;
}

// Shards that are missing while others are there are an error further down; no weights at all is a config alone.
bool has_weights(const std::string& directory) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    if (entry.path().extension() == ".safetensors") return true;
  }
  return false;
}

// A directory, a file of it, or a snapshot of the Hugging Face cache: exact bytes when the weights are there.
ModelSource from_checkpoint(const std::string& path) {
  const models::Checkpoint config = models::find_config(path);
  if (config.config.empty()) {
    profiles::fail_input("no config.json beside the weights", {.file = path}, "kvfit reads the model's layers from it");
  }
  ModelSource out;
  const std::string id = directory_name(config);
  out.model = model_of(config, id);
  out.inputs = {{"checkpoint", id, path}};
  out.directory = config.directory;
  if (config.files.empty() && !has_weights(config.directory)) {
    out.inventory = derived(out.model);
    out.remarks = {format("weights: bytes derived from {}, no safetensors headers at hand", config.config)};
    return out;
  }
  models::CheckpointReport report = models::read_checkpoint(models::find_checkpoint(path), out.model);
  out.inventory = std::make_shared<const models::TensorInventory>(std::move(report.inventory));
  for (std::string& finding : report.findings) out.remarks.push_back(std::move(finding));
  return out;
}

ModelSource from_path(const std::string& path) {
  const fs::path file(path);
  std::error_code ignored;
  const bool spec = fs::is_regular_file(file, ignored) && (file.extension() == ".yaml" || file.extension() == ".yml");
  if (spec) return from_text(profiles::read_text_file(path), path, file.stem().string());
  const bool loose = fs::is_regular_file(file, ignored) && file.extension() == ".json" && file.filename() != "config.json" &&
                     !file.filename().string().ends_with(".index.json");
  if (loose) return from_text(profiles::read_text_file(path), path, file.stem().string());
  return from_checkpoint(path);
}

// ORG/NAME -> models--ORG--NAME in $HF_HUB_CACHE, $HF_HOME/hub or ~/.cache/huggingface/hub.
std::optional<std::string> cached(const std::string& id, const Environment& environment) {
  const std::size_t slash = id.find('/');
  if (slash == std::string::npos || id.find('/', slash + 1) != std::string::npos || id.front() == '.') return std::nullopt;
  const std::string name = "models--" + id.substr(0, slash) + "--" + id.substr(slash + 1);
  std::string hub = environment("HF_HUB_CACHE").value_or("");
  const std::string hf_home = environment("HF_HOME").value_or("");
  const std::string home = environment("HOME").value_or("");
  if (hub.empty() && !hf_home.empty()) hub = hf_home + "/hub";
  if (hub.empty() && !home.empty()) hub = home + "/.cache/huggingface/hub";
  const std::string path = hub + "/" + name;
  return !hub.empty() && exists(path + "/snapshots") ? std::optional(path) : std::nullopt;
}

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&lower](char x, char y) { return lower(x) == lower(y); });
}

ModelSource from_catalogue(const std::string& text, const Catalog& catalog) {
  models::ModelProfile profile = models::load_model(catalog, text);
  ModelSource out;
  out.model = std::move(profile.model);
  out.catalogue_id = profile.id;
  out.inventory = derived(out.model);
  out.inputs = {{"models", profile.id, profile.origin}};
  return out;
}

}  // namespace

std::string read_text(const std::string& path) {
  if (path != "-") return profiles::read_text_file(path);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

bool can_open_model(const std::string& text, const Catalog& catalog, const Environment& environment) {
  const bool repository = text.find('/') != std::string::npos && text.front() != '.' && text.front() != '/';
  if (!repository || exists(text) || text.ends_with(".json") || text.ends_with(".yaml") || cached(text, environment))
    return true;
  const std::vector<profiles::ProfileFile> models = catalog.list("models");
  return std::any_of(models.begin(), models.end(), [&](const profiles::ProfileFile& file) {
    return std::any_of(file.names.begin(), file.names.end(), [&](const std::string& name) { return same_name(name, text); });
  });
}

ModelSource open_model(const std::string& text, const Catalog& catalog, const Environment& environment) {
  if (text == "-") return from_text(read_text(text), "<stdin>", "stdin");
  if (exists(text)) return from_path(text);
  if (const std::optional<std::string> path = cached(text, environment)) {
    ModelSource out = from_checkpoint(*path);
    out.model.id = text;
    out.model.repository = text;
    out.directory.clear();
    return out;
  }
  const bool path_like = text.front() == '.' || text.front() == '/' || text.ends_with(".json") || text.ends_with(".yaml");
  if (path_like) profiles::fail_input("no such file or directory", {.file = text});
  return from_catalogue(text, catalog);
}

}  // namespace kvfit::cli
