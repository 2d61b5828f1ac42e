// What vision towers and their projectors call their tensors. Towers are stored in the model's dtype in every export seen
// so far, so a name and a shape are all there is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"

namespace kvfit::models {

struct VisionTensor {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// `language_prefix`: of the language model's tensors, which decides where the tower sits ("model.visual." beside
/// "model.language_model."). A tower of unknown kind is one entry of `Vision::parameters` numbers.
std::vector<VisionTensor> vision_tensors(const Vision& vision, std::string_view language_prefix);

}  // namespace kvfit::models
