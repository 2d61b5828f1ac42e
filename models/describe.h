// A model in one line, canonical: the same model always gives the same text, and each memory-relevant fact shows. For tests
// (what a config was read as) and for `kvfit models show`.
//
//   llama hidden=2048 vocab=128256 tied positions=131072 bf16 | A=[full 32/8x64 mlp 8192 norms 2] 16A | rope 131072x64 |
//   plain
#pragma once

#include <string>

#include "models/layer.h"
#include "models/model.h"
#include "models/quantization.h"

namespace kvfit::models {

std::string describe(const Layer& layer);
std::string describe(const Quantization& quantization);
std::string describe(const Model& model);

}  // namespace kvfit::models
