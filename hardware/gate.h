// May this hardware run this format? A verdict with its rule and source; rules are rows of profiles/gates/*.yaml, never an
// `if` on a product.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hardware/node.h"

namespace kvfit::hardware {

enum class GateVerdict {
  native,    ///< computed as the format is meant: on tensor cores of its type, or by the kernel of a weight-only format
  fallback,  ///< runs weight-only, converted or emulated; `how` says by what
  unknown,   ///< no rule covers it, or the sources leave it open
  refused,   ///< by policy (`policy` true: a fallback exists, --allow-fallback runs it) or because no kernel exists
};

struct Gate {
  GateVerdict verdict = GateVerdict::unknown;
  bool policy =
      false;  ///< kvfit's policy refuses this, not the lack of a kernel; still true where --allow-fallback lifted it
  std::string format;  ///< what was asked, e.g. "nvfp4 (modelopt)"
  std::string how;     ///< "Marlin W4A16 weight-only"
  std::string reason;  ///< one or two sentences for people; empty when native
  std::string rule;    ///< rule id, e.g. "weights.nvfp4.vendor_min"; empty when no rule covers it
  std::string source;
};

struct GateRules;  // parsed rows; see gate_rules.h

/// Weight format name as models/quantization.h spells it ("nvfp4", "fp8_block", "int4_awq" ...), quantiser = quant_method
/// ("modelopt", "modelopt_mixed", "compressed-tensors", "fp8", "awq", "" ...). `group` is the tensor-parallel group: each of
/// its GPUs is judged, and the worst verdict is returned. An empty group is unknown.
Gate gate_weights(const GateRules& rules, std::span<const Gpu> group, std::string_view format, std::string_view quantiser,
                  bool allow_fallback);

/// `kv_cache_dtype` as the engine spells it ("auto", "fp8_e4m3", "nvfp4" ...); `sparse` counts only with `mla`.
Gate gate_kv_cache(const GateRules& rules, std::span<const Gpu> group, std::string_view kv_cache_dtype, bool mla,
                   bool sparse);

/// "native" | "fallback" | "unknown" | "refused".
std::string_view verdict_name(GateVerdict verdict);

}  // namespace kvfit::hardware
