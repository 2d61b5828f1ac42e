// The rows of profiles/gates/*.yaml: which formats an engine runs on which compute capability. The file's head explains the
// keys; the first row that matches decides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hardware/gate.h"
#include "hardware/gpu.h"
#include "profiles/document.h"

namespace kvfit::hardware {

struct GateRow {
  std::string id;
  std::vector<std::string> formats;     ///< weight formats or KV dtypes; "fp8*" = a prefix; empty = any
  std::vector<std::string> quantisers;  ///< empty = any
  std::vector<std::string> attention;   ///< "standard" | "mla" | "sparse_mla"; empty = any
  int from = 0;                         ///< capability numbers (120 = 12.0), from included, below excluded
  int below = 10000;
  bool mixed_group = false;  ///< judges a group of different capabilities as a whole
  GateVerdict verdict = GateVerdict::unknown;
  bool policy = false;
  std::string how, reason, source;
};

struct GateRules {
  std::string engine;  ///< "vllm"
  std::string as_of;
  std::vector<GateRow> weights;
  std::vector<GateRow> kv_cache;
};

/// Keeps the rows that hold for `engine_version` ("0.24.0", "v0.25.1"); an empty version means the newest. Throws
/// profiles::Error with the place on unknown keys and words, rows without source or reason, and ids used twice.
GateRules read_gate_rules(const profiles::Node& profile, std::string_view engine_version = {});

}  // namespace kvfit::hardware
