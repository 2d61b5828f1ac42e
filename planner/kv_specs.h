// What each layer keeps in the KV cache on one rank: model + settings -> one KvSpec a cache.
//
// A page is what one layer stores for one block. Attention pages grow with the block's tokens; a recurrent state is one page
// whatever the length. Layers that read another layer's cache own none. Byte tables: kv_dtype, kv_latent, kv_indexer,
// kv_compressed of profiles/engines/*.yaml. Source: vllm/v1/kv_cache_interface.py and the models' get_kv_cache_spec.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"
#include "planner/rules.h"
#include "planner/settings.h"

namespace kvfit::planner {

enum class KvKind {
  full,         ///< one entry a token
  sliding,      ///< the last `window` tokens and what is in flight
  chunked,      ///< the current chunk of `window` tokens and what is in flight
  mla,          ///< latent entries, or index keys: the same on every tensor-parallel rank
  sliding_mla,  ///< a window of latent entries or of compressor states (DeepSeek-V4)
  state,        ///< recurrent state of fixed size
  ring,         ///< one page of the newest raw index keys, before they are pooled
};
std::string_view kv_kind_name(KvKind kind);

struct KvSpec {
  KvKind kind = KvKind::full;
  std::int64_t block_size = 16;  ///< tokens one page covers; of a state or ring: 0, it covers any length
  std::int64_t token_bytes = 0;  ///< of one stored entry; 0 for a state
  std::int64_t compress = 1;     ///< tokens one stored entry covers
  std::int64_t state_bytes = 0;  ///< kind state: convolution and recurrent state together
  std::int64_t align = 1;        ///< the page is rounded up to a multiple of this
  std::int64_t padded_page = 0;  ///< the page is at least this; 0 = not padded
  std::int64_t window = 0;       ///< sliding, sliding_mla: window; chunked: chunk length
  std::int64_t fixed_pages = 0;  ///< state, ring: pages a request holds whatever its length
  bool grows = false;            ///< kind state: and one page for each block of tokens (cache mode `all`)

  int stage = 0;      ///< pipeline stage that owns the layer
  std::string layer;  ///< for explanations: "layer 3", "layer 3 indexer", "draft layer 0"

  std::int64_t page() const;  ///< bytes
};
/// The engine merges layers whose caches agree in everything but the layer's name and stage.
bool same_cache(const KvSpec& a, const KvSpec& b);

/// Bytes of one entry in one layer on one rank, all its KV heads (or its latent entry) together.
std::int64_t entry_bytes(const models::Attention& attention, const Settings& settings, const Rules& rules,
                         const Traits& traits);

/// Bytes of one recurrent layer's state on one rank.
std::int64_t state_bytes(const models::Recurrent& recurrent, const Settings& settings, const Rules& rules,
                         const Traits& traits);

/// All caches of all stages, in layer order, drafter last, with settings.block_size: align_hybrid (hybrid_block.h) and the
/// grouping (kv_groups.h) come after. Throws Error when the profile knows no byte count for the KV dtype.
std::vector<KvSpec> kv_specs(const models::Model& model, const Speculative* speculative, const Settings& settings,
                             const Rules& rules, const Traits& traits);

}  // namespace kvfit::planner
