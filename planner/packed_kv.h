// Models that keep latent entries, windows of them and compressor states in pages of many sizes (DeepSeek-V4): groups are
// laid over one another in one slab, split so that each holds a similar number of layer tuples.
//
// Source: kv_cache_utils.py group_and_unify_kv_cache_specs, _get_kv_cache_groups_uniform_groups, _approximate_gcd,
// _get_packed_kv_cache_layout.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/kv_groups.h"

namespace kvfit::planner {

/// True when the specs need it: a windowed latent cache, and pages that differ.
bool needs_packing(std::span<const KvSpec> specs);

/// Fills groups, bytes_per_block and block sizes of `layout`; the first group is that of all unwindowed caches.
void pack_groups(std::span<const KvSpec> specs, const Rules& rules, const Traits& traits, KvLayout& layout);

/// d in [lower, max(values)] that needs the least padding when every value is rounded up to a multiple of d; the largest of
/// equals.
std::int64_t least_padding(std::span<const std::int64_t> values, std::int64_t lower);

}  // namespace kvfit::planner
