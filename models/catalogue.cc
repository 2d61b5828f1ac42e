#include "models/catalogue.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/config_reader.h"
#include "models/model.h"
#include "models/spec_reader.h"
#include "models/tensor_inventory.h"
#include "profiles/catalog.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/spelling.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::models {
namespace {

using profiles::Bytes;
using profiles::Fields;
using profiles::format;
using profiles::Node;

constexpr double kBytesTolerance = 0.06;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

ModelProfile read_profile(const Node& document, ModelProfile out) {
  Fields fields(document);
  if (const Node* names = fields.find("names")) {
    for (const Node& name : names->list()) out.names.push_back(name.string());
  }
  out.source = fields.at("source").string();
  out.as_of = fields.at("as_of").string();
  out.note = fields.string("note", "");
  if (const Node* bytes = fields.find("checkpoint_bytes")) out.checkpoint = Bytes(bytes->integer(1, kMostBytes));
  if (const Node* count = fields.find("parameters")) out.parameters = count->integer(1, kMostBytes);
  const Node* audio = fields.find("audio_parameters");
  const Node* config = fields.find("config");
  const Node* spec = fields.find("spec");
  fields.finish();
  if ((config != nullptr) == (spec != nullptr)) {
    document.fail("a model profile holds either 'config' or 'spec'",
                  "config: the keys of a config.json; spec: layers in kvfit's own words");
  }
  out.model = config ? read_config(*config, nullptr, out.id) : read_spec(*spec, out.id);
  if (audio) out.model.audio_parameters = audio->integer(1, kMostBytes);
  for (const std::string& name : out.names) {
    if (out.model.repository.empty() && name.find('/') != std::string::npos) out.model.repository = name;
  }
  return out;
}

void compare(std::vector<std::string>& out, std::string_view what, double published, double derived, double tolerance) {
  const double off = derived / published - 1;
  if (std::fabs(off) > tolerance) {
    out.push_back(
        format("{} as published is {:.0f}, the config implies {:.0f} ({:+.1f} %)", what, published, derived, 100 * off));
  }
}

}  // namespace

ModelProfile read_model(const Node& document, std::string id, std::string origin, const Node* quantization) {
  ModelProfile out;
  out.id = std::move(id);
  out.origin = std::move(origin);
  if (document.has("config") || document.has("spec")) return read_profile(document, std::move(out));
  const bool spec = document.has("layers") && document.has("family");
  out.model = spec ? read_spec(document, out.id) : read_config(document, quantization, out.id);
  return out;
}

ModelProfile load_model(const profiles::Catalog& catalog, std::string_view id_or_name) {
  const profiles::ProfileFile& file = catalog.resolve("models", id_or_name);
  ModelProfile out = read_model(catalog.load(file), file.id, file.origin);
  const std::string wanted = profiles::lower(id_or_name);
  for (const std::string& name : out.names) {
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos || wanted == file.id) continue;
    const std::string repository = profiles::lower(name);
    if (wanted != repository && wanted != std::string_view(repository).substr(slash + 1)) continue;
    out.model.repository = name;
    break;
  }
  return out;
}

std::vector<ModelProfile> list_models(const profiles::Catalog& catalog) {
  std::vector<ModelProfile> out;
  for (const profiles::ProfileFile& file : catalog.list("models")) {
    out.push_back(read_model(catalog.load(file), file.id, file.origin));
  }
  return out;
}

std::vector<std::string> lint(const ModelProfile& profile) {
  std::vector<std::string> out;
  if (profile.source.empty()) out.push_back("source is empty");
  if (profile.as_of.empty()) out.push_back("as_of is empty");
  if (!profile.checkpoint && !profile.parameters) return out;
  try {
    const TensorInventory inventory = derive_inventory(profile.model);
    if (profile.checkpoint) {
      compare(out, "the checkpoint's size", static_cast<double>(profile.checkpoint->count),
              static_cast<double>(inventory.total().count), kBytesTolerance);
    }
  } catch (const profiles::Error& error) {
    out.push_back(error.message());
  }
  return out;
}

}  // namespace kvfit::models
