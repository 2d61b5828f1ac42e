// How the engine divides a checkpoint's tensor over a tensor-parallel group, and with which neighbours it fuses it into one
// parameter. Read off the tensor's name: these names are the ones published checkpoints use.
//
// Sources: vllm/model_executor/layers/linear.py (ColumnParallelLinear, RowParallelLinear, QKVParallelLinear),
// vocab_parallel_embedding.py, and packed_modules_mapping of the models.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/tensor_inventory.h"

namespace kvfit::planner {

enum class Split : std::uint8_t {
  replicated,  ///< every rank holds the whole
  column,      ///< outputs divided
  kv_heads,    ///< outputs divided, at most by the number of KV heads
  row,         ///< inputs divided; biases and per-output scales stay whole
  vocabulary,  ///< rows divided after padding to 64
};

enum class ParamKind : std::uint8_t { weight, scale, zero_point, order, bias };

struct ParamName {
  Split split = Split::replicated;
  ParamKind kind = ParamKind::weight;
  std::string parameter;  ///< the engine's parameter this becomes part of: "model.layers.3.self_attn.qkv_proj|weight"
};

ParamName engine_parameter(const models::Tensor& tensor);

}  // namespace kvfit::planner
