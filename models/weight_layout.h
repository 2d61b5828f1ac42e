// How a checkpoint stores the weight matrix of one linear module: the tensors (suffix, dtype, shape) each quantised layout
// writes for `[out, in]` inputs. Only what lies on disk; what an engine makes of it after loading is the planner's.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/quantization.h"
#include "profiles/dtype.h"

namespace kvfit::models {

struct StoredTensor {
  std::string_view suffix;  ///< appended to the module name: ".weight", ".weight_scale" ... or "" for a bare parameter
  profiles::DType dtype = profiles::DType::bf16;
  std::vector<std::int64_t> shape;
};

/// What the layout needs to know beyond the format.
struct LinearShape {
  std::int64_t out = 0;             ///< rows of the weight
  std::int64_t in = 0;              ///< columns
  std::vector<std::int64_t> stack;  ///< leading extents when one tensor holds many matrices: {experts} or empty
  profiles::DType plain = profiles::DType::bf16;       ///< dtype of unquantised weights and of scales in model precision
  profiles::DType block_scale = profiles::DType::f32;  ///< dtype of block scales
  std::string_view block_scale_name = ".weight_scale_inv";  ///< of the layout "fp8"
  bool bare = false;                                        ///< a parameter without ".weight": "experts.gate_up_proj"
};

/// Throws Error when no rule says how `format` is stored (exl2, gguf, ...), or a scale group does not divide the matrix.
std::vector<StoredTensor> stored_tensors(const WeightFormat& format, const LinearShape& linear);

/// Scales a checkpoint bakes in for a quantised KV cache: "self_attn.k_proj.k_scale" and "self_attn.v_proj.v_scale".
bool stores_kv_scales(const Quantization& quantization);

}  // namespace kvfit::models
