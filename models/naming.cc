#include "models/naming.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace kvfit::models {

const Naming* find_naming(std::string_view model_type) {
  const std::array tables = {dense_namings(), expert_namings(), hybrid_namings(), latent_namings(), older_namings()};
  for (const std::span<const Naming> table : tables) {
    for (const Naming& naming : table) {
      if (std::find(naming.model_types.begin(), naming.model_types.end(), model_type) != naming.model_types.end()) {
        return &naming;
      }
    }
  }
  return nullptr;
}

}  // namespace kvfit::models
