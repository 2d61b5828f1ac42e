// Models whose caches have pages of many sizes: groups are laid over one another in one slab, and a block is as large as the
// largest of them.
//
// - latent entries, windows of them and compressor states (DeepSeek-V4): groups are split so that each holds a similar
//   number of layer tuples;
// - attention with pooled index keys beside recurrent states (GLM-5.3-Flash, Qwen3.8-Flash-Next): one group of attention
//   and index keys, one of their rings, and the states in as many groups as fit under the attention layers.
//
// Source: kv_cache_utils.py _get_kv_cache_groups_uniform_groups, _approximate_gcd, _get_packed_kv_cache_layout,
// _get_kv_cache_groups_glm5_next.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/kv_groups.h"

namespace kvfit::planner {

/// True when the specs need it: a windowed latent cache or a ring, and pages that differ.
bool needs_packing(std::span<const KvSpec> specs);

/// Fills groups, bytes_per_block and block sizes of `layout`; the first group is that of all unwindowed caches. Groups are
/// formed over all layers; a block costs what those of `stage` need (-1 = all).
void pack_groups(std::span<const KvSpec> specs, int stage, const Rules& rules, const Traits& traits, KvLayout& layout);

/// d in [lower, max(values)] that needs the least padding when every value is rounded up to a multiple of d; the largest of
/// equals.
std::int64_t least_padding(std::span<const std::int64_t> values, std::int64_t lower);

}  // namespace kvfit::planner
