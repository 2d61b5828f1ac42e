// A question about a GPU and a model of the built-in catalogue under a version of vLLM.
#pragma once

#include <memory>
#include <string>

#include "hardware/gpu_catalog.h"
#include "models/catalogue.h"
#include "planner/question.h"
#include "profiles/catalog.h"

namespace kvfit::planner::test {

inline Question ask(const std::string& gpu, const std::string& model, const std::string& version) {
  const profiles::Catalog catalog;
  Question out;
  out.node.gpu = hardware::load_gpu(catalog, gpu);
  out.model = models::load_model(catalog, model).model;
  out.inventory = std::make_shared<models::TensorInventory>(models::derive_inventory(out.model));
  out.rules = std::make_shared<Rules>(catalog.load(catalog.resolve("engines", "vllm")), parse_version(version));
  out.gates = std::make_shared<hardware::GateRules>(hardware::load_gate_rules(catalog, "vllm", version));
  return out;
}

}  // namespace kvfit::planner::test
