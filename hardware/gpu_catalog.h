// The GPU profiles as a whole: load one or all, list, show and check them. Values only; cli/ prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hardware/gate_rules.h"
#include "hardware/gpu.h"
#include "profiles/catalog.h"

namespace kvfit::hardware {

/// By id, alias or driver name; Error with the nearest spelling when there is none.
Gpu load_gpu(const profiles::Catalog& catalog, std::string_view id_or_alias);
/// All, sorted by id.
std::vector<Gpu> load_gpus(const profiles::Catalog& catalog);
/// Gate rules of an engine ("vllm"), for one version of it (empty = the newest).
GateRules load_gate_rules(const profiles::Catalog& catalog, std::string_view engine, std::string_view engine_version = {});

/// One line of `kvfit gpus show`: a fact as three equal or rising numbers.
struct FactRow {
  std::string key;   ///< as in the profile: "cuda_total_linux"
  std::string unit;  ///< "bytes" | "count" | "bytes_per_second" | "watts" | "ratio"
  double low = 0, likely = 0, high = 0;
  std::string provenance;  ///< "read" | "derived" | "unsourced"
  std::string source;
};
/// In the profile's order; facts that are not known are left out.
std::vector<FactRow> facts_of(const Gpu& gpu);

/// What is wrong with the profiles, one finding a problem; empty = clean. Never throws for a bad profile.
struct LintFinding {
  std::string profile;  ///< origin of the file
  std::string text;     ///< a whole error text, or one sentence
};
std::vector<LintFinding> lint_gpus(const profiles::Catalog& catalog);

}  // namespace kvfit::hardware
