// Worked formulas for `kvfit explain`: one line each with the numbers put in.
#include <vector>

#include "planner/kv_capacity.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::planner {
namespace {

using profiles::cdiv;
using profiles::format;
using profiles::grouped;

std::string group_text(const KvLayout& layout, const KvGroup& group, std::int64_t length, std::int64_t in_flight) {
  const std::string times = group.count > 1 ? format("{} x ", group.count) : "";
  switch (group.kind) {
    case KvKind::full:
    case KvKind::mla:
      if (layout.context_shards > 1) {
        return format("{}ceil({}/{}/{})", times, length, layout.context_shards, group.block_size);
      }
      return format("{}ceil({}/{})", times, length, group.block_size);
    case KvKind::sliding:
    case KvKind::sliding_mla:
      return format("{}(ceil(min({} - 1 + {}, {})/{}) + 1)", times, group.window, in_flight, length, group.block_size);
    case KvKind::chunked:
      return format("{}ceil(min({} + {}, {})/{})", times, group.window, in_flight, length, group.block_size);
    case KvKind::state:
    case KvKind::ring:
      if (!group.grows) return format("{}{}", times, group.fixed_pages);
      return format("{}({} + ceil({}/{}))", times, group.fixed_pages, length, group.block_size);
  }
  return "";
}

}  // namespace

std::string explain_block_size(const KvLayout& layout) {
  const HybridBlock& h = layout.hybrid;
  if (h.block_size == 0) return format("block size = {} tokens", layout.block_size);
  return format(
      "block size = {} x ceil({} bytes of state / ({} x {} bytes a token)) = {} tokens; page = {} bytes, state padded by "
      "{:.2f} %",
      h.unit, grouped(h.state_page), h.unit, grouped(h.token_bytes), grouped(h.block_size), grouped(h.page),
      h.padding_percent);
}

std::string explain_bytes_per_block(const KvLayout& layout) {
  if (layout.page_bytes > 0) {
    return format("bytes per block = {} bytes a page x {} layers = {}", grouped(layout.page_bytes), layout.group_size,
                  grouped(layout.bytes_per_block));
  }
  return format("bytes per block = sum of the layers' pages = {}", grouped(layout.bytes_per_block));
}

std::string explain_pages(const KvLayout& layout, std::int64_t length, std::int64_t in_flight) {
  std::vector<std::string> terms;
  for (const KvGroup& group : layout.groups) terms.push_back(group_text(layout, group, length, in_flight));
  return format("blocks per request = {} = {}", profiles::join(terms, " + "),
                grouped(pages_per_request(layout, length, in_flight)));
}

std::string explain_tokens(const KvLayout& layout, std::int64_t blocks, std::int64_t length, std::int64_t in_flight) {
  const std::string tokens = grouped(printed_tokens(layout, blocks, length, in_flight));
  const std::string shards = layout.context_shards > 1 ? format(" x {}", layout.context_shards) : "";
  switch (layout.token_count) {
    case TokenCount::blocks:
      return format("tokens = {} blocks x {}{} = {}", grouped(blocks), layout.block_size, shards, tokens);
    case TokenCount::group_blocks:
      return format("tokens = floor({} blocks / {} groups) x {}{} = {}", grouped(blocks), layout.group_count,
                    layout.smallest_block, shards, tokens);
    case TokenCount::concurrency:
      return format("tokens = floor({} blocks / {} a request x {}) = {}", grouped(blocks),
                    grouped(pages_per_request(layout, length, in_flight)), grouped(length), tokens);
  }
  return "";
}

}  // namespace kvfit::planner
