// What each model_type means beyond its config.json: which facts the library fills in when a key is absent, and the few
// structural facts no key states (biases, norms, how experts are stored). Formulas stay in config_*.cc; a new family is a
// row.
//
// Source of the rows: transformers, src/transformers/models/<model_type>/configuration_<model_type>.py (defaults) and
// modeling_<model_type>.py, or the checkpoint's own modelling file; vllm/model_executor/models/ for what the engine builds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/layer.h"

namespace kvfit::models {

enum Trait : unsigned {
  kQkNorm = 1U << 0,          ///< a norm vector of head_dim for queries and one for keys
  kQkNormWide = 1U << 1,      ///< one vector over all heads instead
  kQkvBias = 1U << 2,         ///< always
  kAllBias = 1U << 3,         ///< every attention and feed-forward matrix has a bias
  kKeyBiasQkv = 1U << 4,      ///< the key attention_bias speaks of q, k, v only; without this trait of the output too
  kNormBias = 1U << 5,        ///< LayerNorm with bias
  kUngated = 1U << 6,         ///< feed-forward without a gate
  kOutputGate = 1U << 7,      ///< q_proj yields query and gate
  kFusedExperts = 1U << 8,    ///< an unquantised checkpoint stores all experts of a projection in one tensor
  kCorrectionBias = 1U << 9,  ///< router carries e_score_correction_bias
  kSharedGate = 1U << 10,     ///< the shared expert has a gate of its own
  kSinks = 1U << 11,          ///< attention sinks, one number a head
  kNoRope = 1U << 12,
  kMrope = 1U << 13,           ///< positions of three axes: the engine keeps four times the rows
  kParallel = 1U << 14,        ///< attention and recurrent mixer side by side in every layer (Falcon-H1)
  kMoeBias = 1U << 15,         ///< experts and router have biases (gpt-oss)
  kKeyQkNorm = 1U << 16,       ///< the key use_qk_norm decides (elsewhere the key speaks of norms without weights)
  kSharedIsExpert = 1U << 17,  ///< shared expert as wide as one routed expert, without a key saying so (Llama-4)
  kDenseBesideMoe = 1U << 18,  ///< a dense feed-forward runs beside the experts in each MoE layer (Gemma-4)
  kDraftOwnsEnds = 1U << 19,   ///< draft layers store embedding and head again (DeepSeek-V3, GLM-4.5)
  kFullDraft = 1U << 20,       ///< the draft layer attends fully whatever the trunk does (Qwen3-Next, Qwen3.5)
  kOnlyRecurrent = 1U << 21,   ///< no layer attends or feeds forward: Mamba itself
};

struct Family {
  std::string_view type;                                         ///< model_type of the text model
  unsigned traits = 0;                                           ///< Trait bits
  int norms = 2;                                                 ///< hidden-sized norm vectors a layer
  std::string_view defaults = {};                                ///< "key=value key=value": what the library fills in
  Recurrent::Kind recurrent = Recurrent::Kind::gated_delta_net;  ///< what a layer without attention is
  std::string_view prefix = "model.";                            ///< of the language model's tensors
  std::string_view draft_prefix = {};                            ///< "mtp."; empty: draft layers follow the trunk's numbers

  bool has(Trait trait) const { return (traits & trait) != 0; }
  struct Fallback {
    double value = 0;
    bool doubtful = false;
  };
  /// A default by key; nullopt when the library has none.
  std::optional<Fallback> fallback(std::string_view key) const;
};

/// nullptr when unknown. Aliases ("qwen3_5_moe" of the wrapper for "qwen3_5_moe_text") resolve.
const Family* find_family(std::string_view model_type);
/// Every known model_type, sorted; for messages and `kvfit models lint`.
std::vector<std::string> known_families();

}  // namespace kvfit::models
