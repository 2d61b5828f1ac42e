// What the engine holds beside the checkpoint's own tensors once a model is loaded.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/loaded_weights.h"

namespace kvfit::planner {

/// Rotary caches, absorbed copies of latent attention, LoRA slots and, with `layer_experts` bytes of one layer's experts for
/// each expert on this rank, the expert-balancing buffer.
std::vector<ExtraPart> weight_extras(const Question& question, const Settings& settings, const Traits& traits,
                                     const Rank& rank, std::int64_t layer_experts);

/// LoRA slots of one rank: max_loras x rank x (inputs + outputs), the sharded side divided; vllm/lora/layers.
std::int64_t lora_bytes(const models::Model& model, const Serving& serving, const Settings& settings, const Rank& rank);

}  // namespace kvfit::planner
