#include "planner/kv_capacity.h"

#include <algorithm>
#include <cstddef>

#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::planner {
namespace {

using profiles::Bytes;
using profiles::cdiv;
using profiles::checked_mul;

std::int64_t pages_of(const KvGroup& group, std::int64_t length, std::int64_t in_flight, std::int64_t shards) {
  switch (group.kind) {
    case KvKind::full:
    case KvKind::mla:
      return cdiv(shards > 1 ? cdiv(length, shards) : length, group.block_size);
    case KvKind::sliding:
    case KvKind::sliding_mla:
      return cdiv(std::min(group.window - 1 + in_flight, length), group.block_size) + 1;
    case KvKind::chunked:
      return cdiv(std::min(group.window + in_flight, length), group.block_size);
    case KvKind::state:
    case KvKind::ring:
      return group.fixed_pages + (group.grows ? cdiv(length, group.block_size) : 0);
  }
  return 0;
}

}  // namespace

std::int64_t pages_per_request(const KvLayout& layout, std::int64_t length, std::int64_t in_flight) {
  std::int64_t pages = 0;
  for (const KvGroup& group : layout.groups)
    pages += group.count * pages_of(group, length, in_flight, layout.context_shards);
  return pages;
}

Bytes kv_needed(const KvLayout& layout, std::int64_t length, std::int64_t in_flight) {
  const std::vector<KvGroup>& groups = layout.checked.empty() ? layout.groups : layout.checked;
  Bytes need;
  for (const KvGroup& group : groups) {
    need += Bytes(group.bytes) * checked_mul(group.count, pages_of(group, length, in_flight, layout.context_shards));
  }
  return need;
}

std::int64_t pool_blocks(const KvLayout& layout, Bytes available) {
  if (layout.bytes_per_block <= 0 || available.count <= 0) return 0;
  return available.count / layout.bytes_per_block;
}

Bytes kv_checked(const KvLayout& layout, Bytes available) {
  return layout.null_block_charged ? available - Bytes(layout.bytes_per_block) : available;
}

std::int64_t estimated_max_len(const KvLayout& layout, Bytes available, std::int64_t limit, std::int64_t in_flight) {
  const Bytes have = kv_checked(layout, available);
  const auto fits = [&](std::int64_t length) { return kv_needed(layout, length, in_flight) <= have; };
  if (limit < 1 || !fits(1)) return 0;
  std::int64_t low = 1, high = limit, best = 1;
  while (low <= high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (fits(middle)) {
      best = middle;
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return best;
}

double max_concurrency(const KvLayout& layout, std::int64_t blocks, std::int64_t length, std::int64_t in_flight) {
  const std::int64_t pages = pages_per_request(layout, length, in_flight);
  return pages > 0 ? static_cast<double>(blocks) / static_cast<double>(pages) : 0;
}

std::int64_t printed_tokens(const KvLayout& layout, std::int64_t blocks, std::int64_t length, std::int64_t in_flight) {
  switch (layout.token_count) {
    case TokenCount::blocks:
      return blocks * layout.block_size * layout.context_shards;
    case TokenCount::group_blocks:
      return blocks / std::max<std::int64_t>(layout.group_count, 1) * layout.smallest_block * layout.context_shards;
    case TokenCount::concurrency:
      // The engine multiplies in floating point and cuts off; so does this, to agree with what it prints.
      return static_cast<std::int64_t>(max_concurrency(layout, blocks, length, in_flight) * static_cast<double>(length));
  }
  return 0;
}

Bytes least_pool(const KvLayout& layout, std::int64_t length, std::int64_t in_flight) {
  const Bytes need = kv_needed(layout, length, in_flight);
  return layout.null_block_charged ? need + Bytes(layout.bytes_per_block) : need;
}

KvCapacity kv_capacity(const KvLayout& layout, Bytes available, std::int64_t length, std::int64_t in_flight,
                       std::int64_t blocks_override, std::int64_t blocks_limit) {
  KvCapacity out;
  std::int64_t blocks = pool_blocks(layout, available);
  if (blocks_limit > 0) blocks = std::min(blocks, blocks_limit);
  Bytes checked = available;
  if (blocks_override > 0) {
    blocks = blocks_override;
    checked = Bytes(layout.bytes_per_block) * blocks_override;
  }
  out.available = available;
  out.needed = kv_needed(layout, length, in_flight);
  out.block_size = layout.block_size;
  out.num_gpu_blocks = blocks;
  out.blocks_per_request = pages_per_request(layout, length, in_flight);
  out.tokens = printed_tokens(layout, blocks, length, in_flight);
  out.max_concurrency = max_concurrency(layout, blocks, length, in_flight);
  out.estimated_max_len = estimated_max_len(layout, checked, length, in_flight);
  out.bytes_per_block = Bytes(layout.bytes_per_block);
  out.groups = layout.group_count;
  out.group_size = layout.group_size;
  return out;
}

std::int64_t common_blocks(std::span<const KvLayout> layouts, std::span<const Bytes> available) {
  std::int64_t least = -1;
  for (std::size_t i = 0; i < layouts.size() && i < available.size(); ++i) {
    const std::int64_t blocks = pool_blocks(layouts[i], available[i]);
    if (least < 0 || blocks < least) least = blocks;
  }
  return std::max<std::int64_t>(least, 0);
}

std::int64_t sequence_limit(const KvLayout& layout, std::int64_t blocks) { return layout.limits_sequences ? blocks : 0; }

}  // namespace kvfit::planner
