// The parameters one rank holds after loading: a checkpoint's tensors divided over the ranks, fused, converted and padded as
// the engine does it. Each is a linear function of the routed experts, so that a search over expert counts reads no names.
//
// Sources: vllm/model_executor/layers/{linear,vocab_parallel_embedding}.py, layers/fused_moe/layer.py,
// layers/quantization/*.py (process_weights_after_loading).
#pragma once

#include <cstdint>
#include <vector>

#include "models/tensor_inventory.h"
#include "planner/question.h"
#include "planner/rank.h"
#include "planner/settings.h"

namespace kvfit::planner {

struct EngineTensor {
  models::Role role = models::Role::other;
  std::int64_t fixed = 0;       ///< bytes
  std::int64_t per_local = 0;   ///< bytes for each routed expert on this rank
  std::int64_t per_expert = 0;  ///< bytes for each routed expert of the model (router rows)
  std::int64_t copies = 1;      ///< alike tensors
  bool repacked = false;        ///< rewritten for a weight-only kernel after loading

  std::int64_t bytes(std::int64_t experts, std::int64_t local) const {
    return fixed + per_local * local + per_expert * experts;
  }
};

/// What stands behind one checkpoint: the target's, or a draft model's own.
struct Checkpoint {
  const models::Model& model;
  const models::TensorInventory& inventory;
  bool own_draft_layers = false;  ///< its draft tensors are loaded (MTP)
  bool loads_vision = false;
  bool shares_embedding = false;  ///< a drafter that uses the target's embedding
};

/// Rows of the embedding and the head as the engine keeps them, over all ranks. Throws Error when the rules lack the table.
std::int64_t padded_vocabulary(std::int64_t vocab, const Rules& rules, const Traits& traits);

/// Alike tensors are merged; a draft's tensors have role draft. Throws Error when the rules lack a needed table.
std::vector<EngineTensor> engine_tensors(const Checkpoint& checkpoint, const Question& question, const Settings& settings,
                                         const Traits& traits, const Rank& rank);

}  // namespace kvfit::planner
