// What a tensor's name says: the number of the expert, if it is one expert's, and the components between the dots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "models/model.h"
#include "models/tensor_inventory.h"

namespace kvfit::models {

/// The expert number inside a name: name[begin, end) are its digits.
struct ExpertNumber {
  std::size_t begin = 0, end = 0;
  std::int32_t expert = 0;
};

/// "…experts.7.up_proj.weight" and "…experts.up_proj.7.weight" (ModelOpt's Qwen3-VL-MoE exports); nullopt for all other
/// names, stacked experts included. Numbers of more than nine digits are no expert numbers.
std::optional<ExpertNumber> find_expert_number(std::string_view name);

/// classify() without the pattern, which costs an allocation a name.
struct NameRole {
  Role role = Role::other;
  Role draft_role = Role::other;
  int layer = -1;
};
NameRole role_of(std::string_view name, const Model& model);

}  // namespace kvfit::models
