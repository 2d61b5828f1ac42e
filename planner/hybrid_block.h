// Block size of models that mix attention with recurrent states: the attention page must hold one state page, so the block
// grows until it does, and the state page is padded up to it.
//
//   none, align:  block = a * cdiv(state, a * token_bytes)               a = kernel block, or the user's block
//   all:          block = c * cdiv(cdiv(state, token_bytes), c)          c = lcm(chunk, a)
//
// Source: vllm/platforms/interface.py _align_hybrid_block_size; HybridAttentionMambaModelConfig up to v0.19.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/kv_specs.h"

namespace kvfit::planner {

struct HybridBlock {
  std::int64_t unit = 16;        ///< a, or c in mode `all`: tokens
  std::int64_t token_bytes = 0;  ///< of the attention layer that decides
  std::int64_t state_page = 0;   ///< bytes before padding
  std::int64_t block_size = 0;   ///< tokens
  std::int64_t page = 0;         ///< bytes after alignment
  double padding_percent = 0;    ///< as the engine prints it: 100 * (page - state_page) / state_page
};

HybridBlock hybrid_block(std::int64_t unit, std::int64_t token_bytes, std::int64_t state_page);

/// Applies it to specs that hold both kinds; leaves others alone (block_size 0 in the result).
HybridBlock align_hybrid(std::vector<KvSpec>& specs, const models::Model& model, const Settings& settings,
                         const Rules& rules, const Traits& traits);

}  // namespace kvfit::planner
