// A path on disk becomes the files of a checkpoint: a single safetensors file, a directory with or without an index, or a
// snapshot in the Hugging Face cache. Then its headers become a TensorInventory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/model.h"
#include "models/safetensors_index.h"
#include "models/tensor_inventory.h"

namespace kvfit::models {

struct Checkpoint {
  std::string given;                 ///< as the user wrote it
  std::string directory;             ///< where the files lie
  std::vector<std::string> files;    ///< full paths of the safetensors files an engine loads, sorted
  std::vector<std::string> orphans;  ///< safetensors files beside them that the index does not name: engines skip these
  std::string config;                ///< config.json beside them, or ""
  std::string quant_config;          ///< hf_quant_config.json, or ""
  std::string index;                 ///< model.safetensors.index.json, or ""
  std::string revision;              ///< of a Hugging Face cache snapshot, or ""
};

/// Accepts a .safetensors file, its index, a config.json, a directory, `models--ORG--NAME` of the Hugging Face cache (the
/// revision of refs/main, or the only snapshot), or a snapshot below it. Symbolic links are followed, as the cache is made
/// of them; names inside an index may not leave the directory. Error when there is nothing to read or a shard is missing.
Checkpoint find_checkpoint(const std::string& path);

/// The same without weights: config.json and hf_quant_config.json only; `files` may be empty.
Checkpoint find_config(const std::string& path);

struct CheckpointReport {
  TensorInventory inventory;          ///< exact
  std::vector<std::string> findings;  ///< what an index claims and headers deny, orphans; one sentence each
};

/// Reads every header. `model` gives names their roles (a default Model will do). Error when a header is malformed or two
/// files hold the same tensor.
CheckpointReport read_checkpoint(const Checkpoint& checkpoint, const Model& model);
TensorInventory read_inventory(const std::string& path, const Model& model);

}  // namespace kvfit::models
