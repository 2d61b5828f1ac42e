// The models kvfit knows by name: profiles/models/*.yaml, and documents given by path. A profile holds where its facts come
// from (source, as_of), sizes as published (checkpoint_bytes, parameters; audio_parameters where no config counts them), and
// either `config:` (the keys of a config.json, read by the same reader) or `spec:` (spec_reader.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"
#include "profiles/catalog.h"
#include "profiles/document.h"
#include "profiles/units.h"

namespace kvfit::models {

struct ModelProfile {
  std::string id;
  std::string origin;              ///< path, or "built-in:models/ID.yaml"
  std::vector<std::string> names;  ///< repository ids and short forms
  std::string source, as_of, note;
  std::optional<profiles::Bytes> checkpoint;  ///< size as published
  std::optional<std::int64_t> parameters;     ///< as published
  Model model;
};

/// Any document that describes a model: a profile, a bare spec (`layers:`), or a config.json (`model_type:`). For a config,
/// `quantization` may be its hf_quant_config.json.
ModelProfile read_model(const profiles::Node& document, std::string id, std::string origin,
                        const profiles::Node* quantization = nullptr);

/// By id or name, with did-you-mean; parses that one profile.
ModelProfile load_model(const profiles::Catalog& catalog, std::string_view id_or_name);

/// All of them, sorted by id.
std::vector<ModelProfile> list_models(const profiles::Catalog& catalog);

/// What is wrong with a profile, as sentences; empty when nothing is. The size as published is compared with
/// what the model implies: within 6 %. What had to be assumed is no fault; it stands in Model::missing.
std::vector<std::string> lint(const ModelProfile& profile);

}  // namespace kvfit::models
