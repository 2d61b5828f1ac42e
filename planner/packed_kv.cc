#include "planner/packed_kv.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "profiles/units.h"

namespace kvfit::planner {
namespace {

using profiles::cdiv;
using profiles::checked_add;
using profiles::checked_mul;
using profiles::round_up;

// Caches of one group: how many layers have a page of each size, in the whole model and on the stage asked about.
struct Part {
  struct Layers {
    std::int64_t all = 0, here = 0;
  };
  const KvSpec* first = nullptr;
  std::map<std::int64_t, Layers> by_page;

  void add(const KvSpec& spec, std::int64_t page, int stage) {
    if (first == nullptr) first = &spec;
    Layers& layers = by_page[page];
    ++layers.all;
    if (stage < 0 || spec.stage == stage) ++layers.here;
  }
  std::int64_t tuples() const {
    std::int64_t most = 0;
    for (const auto& [page, layers] : by_page) most = std::max(most, layers.all);
    return most;
  }
  std::int64_t bytes(std::int64_t groups) const {  // of the largest of `groups` equal shares
    std::int64_t sum = 0;
    for (const auto& [page, layers] : by_page) sum = checked_add(sum, checked_mul(page, cdiv(layers.here, groups)));
    return sum;
  }
  KvGroup group(std::int64_t count) const {
    KvGroup out;
    out.kind = first->kind;
    out.block_size = first->block_size;
    out.window = first->window;
    out.fixed_pages = first->fixed_pages;
    out.grows = first->grows;
    out.count = count;
    for (const auto& [page, layers] : by_page) out.layers += layers.all;
    return out;
  }
};

bool keeps_tokens(const KvSpec& spec) {
  return spec.kind != KvKind::sliding_mla && spec.kind != KvKind::state && spec.kind != KvKind::ring;
}

// Whole caches first, then windows by block and length in the order they appear.
std::vector<Part> window_parts(std::span<const KvSpec> specs, int stage) {
  Part whole;
  std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, Part>> windows;
  for (const KvSpec& spec : specs) {
    if (spec.kind != KvKind::sliding_mla) {
      whole.add(spec, spec.page(), stage);
      continue;
    }
    const std::pair<std::int64_t, std::int64_t> key{spec.block_size, spec.window};
    auto found = std::find_if(windows.begin(), windows.end(), [&](const auto& w) { return w.first == key; });
    if (found == windows.end()) found = windows.insert(windows.end(), {key, Part{}});
    found->second.add(spec, spec.page(), stage);
  }
  std::vector<Part> out{whole};
  for (auto& [key, part] : windows) out.push_back(std::move(part));
  return out;
}

void add_group(KvLayout& layout, const Part& part, std::int64_t count) {
  layout.groups.push_back(part.group(count));
  layout.group_count += count;
  layout.bytes_per_block = std::max(layout.bytes_per_block, part.bytes(count));
}

// States lie under attention layers of the same page size, rings under pooled index keys.
void pack_states(std::span<const KvSpec> specs, int stage, KvLayout& layout) {
  Part attention, ring, states;
  std::int64_t attending = 0, pooled_page = 0;
  for (const KvSpec& spec : specs) {
    if (!keeps_tokens(spec)) continue;
    attention.add(spec, spec.page(), stage);
    if (spec.compress > 1) {
      pooled_page = std::max(pooled_page, spec.page());
    } else {
      ++attending;
    }
  }
  for (const KvSpec& spec : specs) {
    if (spec.kind == KvKind::ring) ring.add(spec, pooled_page, stage);
    if (spec.kind == KvKind::state) states.add(spec, spec.page(), stage);
  }
  add_group(layout, attention, 1);
  add_group(layout, ring, 1);
  if (states.first != nullptr) add_group(layout, states, cdiv(states.tuples(), attending));
  for (KvGroup& group : layout.groups) group.bytes = layout.bytes_per_block;
}

void pack_windows(std::span<const KvSpec> specs, int stage, const Rules& rules, const Traits& traits, KvLayout& layout) {
  const std::vector<Part> parts = window_parts(specs, stage);
  std::vector<std::int64_t> tuples;
  for (const Part& part : parts) tuples.push_back(part.tuples());
  const std::int64_t share = least_padding(tuples, tuples.front());
  std::int64_t most = 0, tuple_bytes = 0;
  for (const auto& [page, layers] : parts.front().by_page) tuple_bytes = checked_add(tuple_bytes, page);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t groups = i == 0 ? 1 : cdiv(tuples[i], share);
    add_group(layout, parts[i], groups);
    most = std::max(most, cdiv(tuples[i], groups));
  }
  // Builds that pad every page class to the tuple count charge it for the pool too; later ones only in the fit check.
  const std::int64_t padded = checked_mul(most, tuple_bytes);
  const Row& row = rules.pick("kv_packed", traits);
  for (KvGroup& group : layout.groups) group.bytes = row.is("check", "tuples") ? padded : layout.bytes_per_block;
  if (row.is("pool", "tuples")) layout.bytes_per_block = padded;
}

}  // namespace

bool needs_packing(std::span<const KvSpec> specs) {
  bool windows = false, whole = false, differ = false, rings = false;
  for (const KvSpec& spec : specs) {
    windows = windows || spec.kind == KvKind::sliding_mla;
    whole = whole || spec.kind == KvKind::mla;
    rings = rings || spec.kind == KvKind::ring;
    differ = differ || spec.page() != specs.front().page();
  }
  return rings || (windows && whole && differ);
}

std::int64_t least_padding(std::span<const std::int64_t> values, std::int64_t lower) {
  const std::int64_t high = *std::max_element(values.begin(), values.end());
  std::int64_t best = std::max<std::int64_t>(1, lower), least = -1;
  for (std::int64_t d = best; d <= high; ++d) {
    std::int64_t padding = 0;
    for (const std::int64_t value : values) padding += round_up(value, d) - value;
    if (least >= 0 && padding > least) continue;
    least = padding;
    best = d;
  }
  return best;
}

void pack_groups(std::span<const KvSpec> specs, int stage, const Rules& rules, const Traits& traits, KvLayout& layout) {
  const bool rings = std::any_of(specs.begin(), specs.end(), [](const KvSpec& spec) { return spec.kind == KvKind::ring; });
  if (rings) {
    pack_states(specs, stage, layout);
  } else {
    pack_windows(specs, stage, rules, traits, layout);
  }
}

}  // namespace kvfit::planner
