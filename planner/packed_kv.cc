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

// Caches of one group: how many layers have a page of each size.
struct Part {
  const KvSpec* first = nullptr;
  std::map<std::int64_t, std::int64_t> layers_by_page;

  void add(const KvSpec& spec) {
    if (first == nullptr) first = &spec;
    ++layers_by_page[spec.page()];
  }
  std::int64_t tuples() const {
    std::int64_t most = 0;
    for (const auto& [page, layers] : layers_by_page) most = std::max(most, layers);
    return most;
  }
  std::int64_t bytes(std::int64_t groups) const {  // of the largest of `groups` equal shares
    std::int64_t sum = 0;
    for (const auto& [page, layers] : layers_by_page) sum = checked_add(sum, checked_mul(page, cdiv(layers, groups)));
    return sum;
  }
};

std::vector<Part> parts_of(std::span<const KvSpec> specs) {
  Part whole;
  std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, Part>> windows;
  for (const KvSpec& spec : specs) {
    if (spec.kind != KvKind::sliding_mla) {
      whole.add(spec);
      continue;
    }
    const std::pair<std::int64_t, std::int64_t> key{spec.block_size, spec.window};
    auto found = std::find_if(windows.begin(), windows.end(), [&](const auto& w) { return w.first == key; });
    if (found == windows.end()) found = windows.insert(windows.end(), {key, Part{}});
    found->second.add(spec);
  }
  std::vector<Part> out{whole};
  for (auto& [key, part] : windows) out.push_back(std::move(part));
  return out;
}

}  // namespace

bool needs_packing(std::span<const KvSpec> specs) {
  bool windows = false, whole = false, differ = false;
  for (const KvSpec& spec : specs) {
    windows = windows || spec.kind == KvKind::sliding_mla;
    whole = whole || spec.kind == KvKind::mla;
    differ = differ || spec.page() != specs.front().page();
  }
  return windows && whole && differ;
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

void pack_groups(std::span<const KvSpec> specs, const Rules& rules, const Traits& traits, KvLayout& layout) {
  const std::vector<Part> parts = parts_of(specs);
  std::vector<std::int64_t> tuples;
  for (const Part& part : parts) tuples.push_back(part.tuples());
  const std::int64_t share = least_padding(tuples, tuples.front());
  std::int64_t stride = 0, most = 0, tuple_bytes = 0;
  for (const auto& [page, layers] : parts.front().layers_by_page) tuple_bytes = checked_add(tuple_bytes, page);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t groups = i == 0 ? 1 : cdiv(tuples[i], share);
    KvGroup group;
    group.kind = parts[i].first->kind;
    group.block_size = parts[i].first->block_size;
    group.window = parts[i].first->window;
    group.count = groups;
    for (const auto& [page, layers] : parts[i].layers_by_page) group.layers += layers;
    layout.groups.push_back(group);
    layout.group_count += groups;
    stride = std::max(stride, parts[i].bytes(groups));
    most = std::max(most, cdiv(tuples[i], groups));
  }
  // Builds that pad every page class to the tuple count charge it for the pool too; later ones only in the fit check.
  const std::int64_t padded = checked_mul(most, tuple_bytes);
  const Row& row = rules.pick("kv_packed", traits);
  layout.bytes_per_block = row.is("pool", "tuples") ? padded : stride;
  for (KvGroup& group : layout.groups) group.bytes = row.is("check", "tuples") ? padded : stride;
}

}  // namespace kvfit::planner
