// Layers -> groups that share one block table, and the bytes one block costs: the engine's KV layout, computed once for a
// model, its settings and a pipeline stage. Everything that depends on length, batch or memory is asked of it afterwards
// (kv_capacity.h) in a few integer operations.
//
// Source: vllm/v1/core/kv_cache_utils.py get_kv_cache_groups, unify_kv_cache_spec_page_size,
// _get_kv_cache_groups_uniform_page_size, get_kv_cache_config_from_groups.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "planner/hybrid_block.h"
#include "planner/kv_specs.h"

namespace kvfit::planner {

/// How many pages one request takes in a group; `count` groups are alike.
struct KvGroup {
  KvKind kind = KvKind::full;
  std::int64_t count = 1;
  std::int64_t layers = 0;       ///< layers in all of them together, whole model
  std::int64_t block_size = 16;  ///< tokens a page
  std::int64_t window = 0;
  std::int64_t fixed_pages = 0;
  bool grows = false;
  std::int64_t bytes = 0;  ///< what the fit check charges for one page of one of them
};

enum class TokenCount { blocks, group_blocks, concurrency };  ///< what "GPU KV cache size" meant; table kv_tokens

struct KvLayout {
  std::vector<KvGroup> groups;
  std::vector<KvGroup> checked;  ///< versions that check layer by layer: what the fit check sums; else empty
  std::int64_t group_count = 0;  ///< sum of counts
  std::int64_t page_bytes = 0;   ///< of one layer in one block; 0 when pages differ (one group, summed; packed)
  std::int64_t group_size = 0;   ///< layers of this stage the pool reserves for each block; 0 when pages differ
  std::int64_t bytes_per_block = 0;
  std::int64_t block_size = 16;  ///< of the first group that holds tokens
  std::int64_t smallest_block = 16;
  std::int64_t padding_layers = 0;  ///< "Add N padding layers", summed
  std::int64_t context_shards = 1;  ///< decode context parallelism: tokens of full and latent groups are divided
  bool null_block_charged = false;  ///< the fit check leaves one block out
  TokenCount token_count = TokenCount::concurrency;
  HybridBlock hybrid;             ///< block_size 0 when the model has no states beside attention
  bool limits_sequences = false;  ///< max_num_seqs may not exceed the pool's blocks (states under CUDA graphs)
  std::int64_t least_batch = 0;   ///< smallest max_num_batched_tokens the cache mode accepts; 0 = any
  std::string refusal;            ///< what the engine would raise instead of starting; empty when it starts
};

/// One layout for each pipeline stage: groups are formed over the whole model and projected on each stage's layers.
std::vector<KvLayout> group_layers(std::vector<KvSpec> specs, const Settings& settings, const Rules& rules,
                                   const Traits& traits);

/// Specs, hybrid alignment and groups in one call.
std::vector<KvLayout> kv_layouts(const models::Model& model, const Speculative* speculative, const Settings& settings,
                                 const Rules& rules, const Traits& traits);

}  // namespace kvfit::planner
