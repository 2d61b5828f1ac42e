// Bytes of a checkpoint with another number of routed experts: what a carve would write, without deriving its names.
#pragma once

#include <cstdint>

#include "models/tensor_inventory.h"

namespace kvfit::models {

/// Tensor bytes as a line in the number of experts: fixed + per_expert x experts.
struct CheckpointSize {
  Bytes fixed, per_expert;
  Bytes at(std::int64_t experts) const { return fixed + per_expert * experts; }
};

/// Per-expert tensors, slices of fused ones, router rows and score-correction entries count by expert; all else is fixed.
/// `experts` is the inventory's own count (0 = dense).
CheckpointSize checkpoint_size(const TensorInventory& inventory, std::int64_t experts);

}  // namespace kvfit::models
