// What a checkpoint on disk is: its tensors by role, how each role is stored, what its config would have led one to expect.
// `kvfit models inspect PATH` prints it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/checkpoint.h"
#include "models/model.h"
#include "models/tensor_inventory.h"
#include "profiles/dtype.h"

namespace kvfit::models {

struct RoleSummary {
  struct Share {
    profiles::DType dtype = profiles::DType::bf16;
    Bytes bytes;
  };
  Role role = Role::other;
  std::int64_t tensors = 0;
  Bytes bytes;
  std::vector<Share> dtypes;         ///< largest first; they sum to `bytes`
  std::vector<std::string> formats;  ///< of the role's weights as the config states them ("nvfp4", "bf16"), in order of use
};

struct Inspection {
  Checkpoint checkpoint;
  std::optional<Model> model;  ///< when a config.json lies beside the weights
  TensorInventory inventory;
  std::vector<RoleSummary> roles;          ///< only roles that occur; they sum to the inventory
  std::int64_t layers = 0;                 ///< numbered trunk layers among the tensors
  std::int64_t experts = 0;                ///< routed experts of the trunk's largest layer, 0 when none is numbered
  std::vector<std::string> findings;       ///< the index against the headers, files no engine loads
  std::vector<std::string> differences;    ///< "- derived", "+ stored": where config and headers disagree (at most 50)
  std::optional<std::string> underivable;  ///< why there is nothing to compare with
};

/// Reads headers and configs, never weights. Throws Error for what find_checkpoint(), read_checkpoint() and read_config()
/// refuse.
Inspection inspect(const std::string& path);

/// The same from parts at hand.
std::vector<RoleSummary> summarise_roles(const TensorInventory& inventory, const Model* model);

struct FormatShare {
  std::string format;  ///< "nvfp4", "bf16" ...
  Bytes bytes;         ///< of the tensors stored so, scales of packed weights by their own dtype where that is plain
};
/// How the bytes of all weights are stored, largest share first; they sum to the inventory.
std::vector<FormatShare> weight_formats(const TensorInventory& inventory, const Model& model);

}  // namespace kvfit::models
