// --quantization: weights that the engine casts while it loads a checkpoint that stores them plain. What each method makes
// of them is table `online_quantization` of the engine's profile, written as the quantization_config of a checkpoint that
// holds the result.
//
// Source: vllm/model_executor/layers/quantization/ (fp8.py Fp8OnlineLinearMethod, bitsandbytes.py), config/model.py.
#pragma once

#include "planner/question.h"

namespace kvfit::planner {

/// Replaces the model's quantisation and its tensors. Nothing changes where no method is stated, where the checkpoint is
/// quantised already, or where no row says what becomes of the weights (missing_facts says so then).
void quantise_while_loading(Question& question);

/// Whether --quantization is stated and nothing says what it does to this model.
bool quantisation_unknown(const Question& question);

}  // namespace kvfit::planner
