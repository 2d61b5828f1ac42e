// --model: where a model's facts and bytes come from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/report.h"
#include "cli/terminal.h"
#include "models/model.h"
#include "models/tensor_inventory.h"
#include "profiles/catalog.h"

namespace kvfit::cli {

struct ModelSource {
  models::Model model;
  std::shared_ptr<const models::TensorInventory> inventory;
  std::string catalogue_id;  ///< "" when the model came from a path
  std::string directory;     ///< where a checkpoint on disk lies, as an engine would be told; "" otherwise
  std::vector<Input> inputs;
  std::vector<std::string> remarks;  ///< what a reader of the plan should know: "bytes are derived from config.json"
};

/// In this order: "-" (a config or spec on stdin), a path that exists (directory, *.safetensors, config.json, YAML spec), a
/// Hugging Face id that lies in the local cache, a catalogue id or name. Bytes are exact where safetensors headers are at
/// hand and derived from the config elsewhere. Throws Error with the nearest spelling when it is none of these.
ModelSource open_model(const std::string& text, const profiles::Catalog& catalog, const Environment& environment);

/// False for a repository id (ORG/NAME) that lies neither in the local cache nor in the catalogue: nobody here knows its
/// layers. Anything else is open_model's to judge.
bool can_open_model(const std::string& text, const profiles::Catalog& catalog, const Environment& environment);

/// A file's text, or all of stdin for "-".
std::string read_text(const std::string& path);

}  // namespace kvfit::cli
