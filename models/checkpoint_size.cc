#include "models/checkpoint_size.h"

#include <algorithm>
#include <cstdint>

namespace kvfit::models {
namespace {

bool routed(const Tensor& tensor) {
  const Role role = tensor.role == Role::draft ? tensor.draft_role : tensor.role;
  return role == Role::expert || role == Role::router;
}

bool has_expert_axis(const Tensor& tensor, std::int64_t experts) {
  return std::find(tensor.shape.begin(), tensor.shape.end(), experts) != tensor.shape.end();
}

}  // namespace

CheckpointSize checkpoint_size(const TensorInventory& inventory, std::int64_t experts) {
  CheckpointSize out;
  for (const Tensor& tensor : inventory.tensors) {
    const bool by_expert = !tensor.expert_ids.empty() || (routed(tensor) && has_expert_axis(tensor, experts));
    if (experts > 0 && by_expert) {
      out.per_expert += Bytes(tensor.bytes().count / experts);
    } else {
      out.fixed += tensor.bytes();
    }
  }
  return out;
}

}  // namespace kvfit::models
