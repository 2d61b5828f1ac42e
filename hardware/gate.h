// May this hardware run this format? A verdict with its rule and source; rules are rows in profiles/engines/*.yaml and
// profiles/hardware/formats.yaml, never an `if` on a product.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hardware/node.h"

namespace kvfit::hardware {

enum class GateVerdict {
  native,    ///< the tensor cores compute in this format
  fallback,  ///< runs weight-only or emulated; `how` says by what
  refused,   ///< by policy (`policy` true: a fallback exists, --allow-fallback runs it) or because no kernel exists
  unknown,   ///< no rule covers it
};

struct Gate {
  GateVerdict verdict = GateVerdict::unknown;
  bool policy = false;  ///< refused by kvfit's policy, not for lack of a kernel
  std::string format;   ///< what was asked, e.g. "nvfp4 (modelopt)"
  std::string how;      ///< "Marlin W4A16 weight-only"
  std::string reason;   ///< one sentence for people
  std::string rule;     ///< rule id, e.g. "weights.nvfp4.vendor_min"
  std::string source;
};

/// Weight format name as models/quantization.h spells it ("nvfp4", "fp8_block", "awq" ...), quantiser = quant_method
/// ("modelopt", "modelopt_mixed", "compressed-tensors", "fp8", "awq", ...). All GPUs of the group must pass.
struct GateRules;  // parsed rows; see gate_rules.h
Gate gate_weights(const GateRules& rules, std::span<const Gpu> group, std::string_view format, std::string_view quantiser,
                  bool allow_fallback);
Gate gate_kv_cache(const GateRules& rules, std::span<const Gpu> group, std::string_view kv_cache_dtype, bool mla,
                   bool sparse);

}  // namespace kvfit::hardware
