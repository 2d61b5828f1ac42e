// Every tensor of a checkpoint: name, role, layer, dtype, shape, bytes. Two makers, one type: read from safetensors headers
// (exact) or derived from a Model (for a model that is not here). They must agree name by name, shape by shape.
//
// Expert tensors that differ only in the expert number are one entry with a count, so a 92,000-tensor checkpoint stays
// small.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"
#include "profiles/dtype.h"
#include "profiles/units.h"

namespace kvfit::models {

using profiles::Bytes;

enum class Role {
  expert,
  router,
  shared_expert,
  attention,
  linear_attention,
  indexer,
  dense_mlp,
  embedding,
  head,
  norm,
  vision,
  audio,
  draft,
  other,
};
std::string_view role_name(Role role);

struct Tensor {
  std::string name;         ///< with "{}" in place of the expert number when experts > 0
  Role role = Role::other;  ///< of a draft layer's tensors: draft, and `draft_role` says what it would be in the trunk
  Role draft_role = Role::other;
  int layer = -1;                        ///< trunk or draft layer number; -1 = none
  std::vector<std::int32_t> expert_ids;  ///< which experts; empty = not per expert
  profiles::DType dtype = profiles::DType::bf16;
  std::vector<std::int64_t> shape;  ///< of one tensor

  std::int64_t count() const { return expert_ids.empty() ? 1 : static_cast<std::int64_t>(expert_ids.size()); }
  Bytes bytes_each() const;  ///< product(shape) * bits / 8
  Bytes bytes() const { return bytes_each() * count(); }
  /// "model.layers.3.mlp.experts.7.up_proj.weight"
  std::string expanded(std::int32_t expert) const;
};

struct TensorInventory {
  std::vector<Tensor> tensors;  ///< sorted by name
  bool exact = false;           ///< read from headers
  std::string origin;           ///< directory, or "derived from config"

  Bytes total() const;
  std::int64_t tensor_count() const;
  Bytes total(Role role) const;
};

/// From the model alone. Throws Error when the family's tensor names are not known (says which model_type).
TensorInventory derive_inventory(const Model& model);

/// Role, layer and expert number by name; the family decides nothing, names do.
struct NameParts {
  Role role;
  Role draft_role;
  int layer;
  int expert;
  std::string pattern;
};
NameParts classify(std::string_view tensor_name, const Model& model);

/// Calls f(name, tensor) for every single tensor, experts expanded.
void for_each_tensor(const TensorInventory& inventory, const std::function<void(const std::string&, const Tensor&)>& f);

/// Differences as canonical lines ("- name BF16 [2,3]" only in a, "+ ..." only in b); empty when they agree.
std::vector<std::string> differences(const TensorInventory& a, const TensorInventory& b, std::size_t limit = 50);

}  // namespace kvfit::models
