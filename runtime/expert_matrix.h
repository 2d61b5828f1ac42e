// One routed expert's NVFP4 matrix of a checkpoint: where its weight, block scales and global scale lie.
//
// Layouts: ModelOpt stores NAME.weight (U8), NAME.weight_scale (F8_E4M3), NAME.weight_scale_2 (F32, multiplies);
// compressed-tensors stores NAME.weight_packed, NAME.weight_scale, NAME.weight_global_scale (F32, divides). Experts stacked
// in one tensor: its first slab is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/safetensors_header.h"
#include "runtime/kernel_math.h"

namespace kvfit::runtime {

struct ExpertMatrix {
  std::string tensor;
  std::uint32_t rows = 0, columns = 0;
  std::string weights, scales;  ///< bytes, row by row
  float global = 1;             ///< multiplies
  Nvfp4Matrix view() const { return {rows, columns, weights, scales, global}; }
};

/// The first in the order of the files; nullopt when there is none. Reads its bytes.
std::optional<ExpertMatrix> find_expert_matrix(const std::vector<models::SafetensorsHeader>& files);

}  // namespace kvfit::runtime
