// Which dimension of a module the engine cuts over a tensor-parallel group: nothing large may be held whole unawares.
#include "planner/module_split.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "models/catalogue.h"
#include "profiles/catalog.h"

namespace kvfit::planner {
namespace {

using models::Role;

// What every rank holds whole on purpose, by the last words of its name.
// (vllm/model_executor/models: ReplicatedLinear, and the fused projections into the low ranks of latent attention.)
const std::set<std::string> kWhole = {"fused_qkv_a_proj", "wkv", "wq_a", "f_a_proj", "g_a_proj"};

bool sharded_role(Role role) {
  return role == Role::expert || role == Role::shared_expert || role == Role::dense_mlp || role == Role::attention ||
         role == Role::linear_attention;
}

TEST_CASE("no large matrix of a catalogued model is held whole by every rank because its name is unknown") {
  const profiles::Catalog catalog;
  std::set<std::string> found;
  for (const models::ModelProfile& profile : models::list_models(catalog)) {
    models::TensorInventory inventory;
    try {
      inventory = models::derive_inventory(profile.model);
    } catch (const profiles::Error&) {
      continue;  // formats whose tensors only headers can tell
    }
    for (const models::Tensor& tensor : inventory.tensors) {
      const Role role = tensor.role == Role::draft ? tensor.draft_role : tensor.role;
      const bool matrix = tensor.shape.size() >= 2 && tensor.shape.back() > 64 && tensor.shape[tensor.shape.size() - 2] > 64;
      const ParamName name = engine_parameter(tensor);
      if (!sharded_role(role) || !matrix || name.kind != ParamKind::weight || name.split != Split::replicated) continue;
      const std::string leaf = name.parameter.substr(0, name.parameter.find('|'));
      const std::string last = leaf.substr(leaf.rfind('.') + 1);
      if (kWhole.count(last) == 0) found.insert(profile.model.family + " " + last);
    }
  }
  std::string all;
  for (const std::string& one : found) all += one + "\n";
  INFO(all);
  CHECK(found.empty());
}

}  // namespace
}  // namespace kvfit::planner
