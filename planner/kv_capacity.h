// What a pool of so many bytes holds: blocks, pages of a request, tokens and concurrency as the engine prints them, the
// longest request that fits. Pure integer work on a KvLayout; nothing allocates.
//
// L = max_model_len, F = in-flight tokens (Settings::in_flight_tokens). Source: kv_cache_utils.py get_kv_cache_capacity,
// _max_memory_usage_bytes_from_groups, _estimate_max_model_len_from_groups, _check_enough_kv_cache_memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "planner/kv_groups.h"
#include "planner/plan.h"

namespace kvfit::planner {

/// Pages one request of `length` tokens holds at most, over all groups.
std::int64_t pages_per_request(const KvLayout& layout, std::int64_t length, std::int64_t in_flight);

/// Bytes the fit check asks for.
profiles::Bytes kv_needed(const KvLayout& layout, std::int64_t length, std::int64_t in_flight);

/// Blocks of a pool of `available` bytes: available / page / group_size, never negative.
std::int64_t pool_blocks(const KvLayout& layout, profiles::Bytes available);

/// What the fit check compares with: available, less one block where this version leaves out the null block.
profiles::Bytes kv_checked(const KvLayout& layout, profiles::Bytes available);

/// The largest length <= limit whose need is within kv_checked; 0 when not even one token fits.
std::int64_t estimated_max_len(const KvLayout& layout, profiles::Bytes available, std::int64_t limit,
                               std::int64_t in_flight);

/// Requests of `length` tokens that run at once without preemption: blocks / pages.
double max_concurrency(const KvLayout& layout, std::int64_t blocks, std::int64_t length, std::int64_t in_flight);

/// "GPU KV cache size: N tokens" as this version counts.
std::int64_t printed_tokens(const KvLayout& layout, std::int64_t blocks, std::int64_t length, std::int64_t in_flight);

/// Smallest pool that starts: bytes for one request of `length` (and the null block where it is charged).
profiles::Bytes least_pool(const KvLayout& layout, std::int64_t length, std::int64_t in_flight);

/// Everything at once, for one stage. `blocks_override` > 0 replaces the count (--num-gpu-blocks-override); pass the
/// smallest over all ranks as `blocks_limit` (0 = this rank's own).
KvCapacity kv_capacity(const KvLayout& layout, profiles::Bytes available, std::int64_t length, std::int64_t in_flight,
                       std::int64_t blocks_override = 0, std::int64_t blocks_limit = 0);

/// Smallest number of blocks over ranks: stage i has layouts[i] and available[i].
std::int64_t common_blocks(std::span<const KvLayout> layouts, std::span<const profiles::Bytes> available);

/// max_num_seqs the engine accepts for a model with recurrent states under CUDA graphs: one block a sequence. 0 = no such
/// limit.
std::int64_t sequence_limit(const KvLayout& layout, std::int64_t blocks);

// Worked formulas, for `kvfit explain`: one line each with the numbers put in.
std::string explain_block_size(const KvLayout& layout);
std::string explain_bytes_per_block(const KvLayout& layout);
std::string explain_pages(const KvLayout& layout, std::int64_t length, std::int64_t in_flight);
std::string explain_tokens(const KvLayout& layout, std::int64_t blocks, std::int64_t length, std::int64_t in_flight);

}  // namespace kvfit::planner
