// Shared by the KV tests: the built-in engine profile at a version, and small models written by hand.
#pragma once

#include <string>

#include "models/model.h"
#include "planner/rules.h"
#include "planner/traits.h"
#include "profiles/catalog.h"

namespace kvfit::planner::test {

inline Rules vllm_rules(const std::string& version) {
  const profiles::Catalog catalog;
  return Rules(catalog.load(catalog.resolve("engines", "vllm")), parse_version(version));
}

}  // namespace kvfit::planner::test
