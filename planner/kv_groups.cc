#include "planner/kv_groups.h"

#include <algorithm>
#include <cstddef>

#include "planner/packed_kv.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::planner {
namespace {

using profiles::cdiv;
using profiles::checked_add;
using profiles::checked_mul;
using profiles::format;

bool windowed(const KvSpec& spec) { return spec.kind == KvKind::sliding || spec.kind == KvKind::chunked; }
bool whole(const KvSpec& spec) { return spec.kind == KvKind::full || spec.kind == KvKind::mla; }

KvGroup group_of(const KvSpec& spec) {
  KvGroup out;
  out.kind = spec.kind;
  out.block_size = spec.block_size;
  out.window = spec.window;
  out.fixed_pages = spec.fixed_pages;
  out.grows = spec.grows;
  return out;
}

// Without the hybrid manager windowed layers are kept as if they saw everything.
void promote_windows(std::vector<KvSpec>& specs) {
  if (!std::any_of(specs.begin(), specs.end(), whole)) return;
  for (KvSpec& spec : specs) {
    if (!windowed(spec)) continue;
    spec.kind = KvKind::full;
    spec.window = 0;
  }
}

bool all_same(const std::vector<KvSpec>& specs) {
  return std::all_of(specs.begin(), specs.end(), [&](const KvSpec& s) { return same_cache(s, specs.front()); });
}

// One type, one block size, pages that differ: a single group that sums its layers' pages.
bool uniform_type(const std::vector<KvSpec>& specs) {
  const KvSpec& first = specs.front();
  return std::all_of(specs.begin(), specs.end(), [&](const KvSpec& s) {
    if (s.block_size != first.block_size) return false;
    if (whole(first)) return whole(s);
    return s.kind == first.kind && s.window == first.window && s.fixed_pages == first.fixed_pages && s.grows == first.grows;
  });
}

// Every page becomes as large as the largest: states are padded; blocks grow by the whole ratio, and what is left is padded.
void unify_pages(std::vector<KvSpec>& specs, const Rules& rules, const Traits& traits, KvLayout& layout) {
  std::int64_t largest = 0;
  for (const KvSpec& spec : specs) largest = std::max(largest, spec.page());
  for (KvSpec& spec : specs) {
    const std::int64_t page = spec.page();
    if (page == largest) continue;
    if (spec.kind != KvKind::state) {
      const std::int64_t ratio = largest / page;
      if (largest % page == 0 || !rules.pick("kv_unify", traits).is("uneven", "pad")) spec.block_size *= ratio;
      if (largest % page != 0 && rules.pick("kv_unify", traits).is("uneven", "refuse")) {
        layout.refusal =
            format("{}: its KV page of {} bytes does not divide the largest page of {} bytes", spec.layer, page, largest);
      }
    }
    spec.padded_page = largest;
  }
}

// Latent pages cannot be padded. Where one does not divide the largest page, later versions keep windowed layers (a
// drafter's) as if they saw everything, so that all caches form one group.
bool promote_beside_latent(std::vector<KvSpec>& specs, const Rules& rules, const Traits& traits) {
  std::int64_t largest = 0;
  for (const KvSpec& spec : specs) largest = std::max(largest, spec.page());
  const bool uneven = std::any_of(specs.begin(), specs.end(), [largest](const KvSpec& spec) {
    return spec.kind == KvKind::mla && largest % spec.page() != 0;
  });
  if (!uneven || !rules.pick("kv_unify", traits).is("beside_latent", "promote")) return false;
  promote_windows(specs);
  return uniform_type(specs);
}

struct Bucket {
  std::vector<const KvSpec*> layers;
};

std::vector<Bucket> buckets_of(const std::vector<KvSpec>& specs) {
  std::vector<Bucket> out;
  for (const KvSpec& spec : specs) {
    const auto found =
        std::find_if(out.begin(), out.end(), [&](const Bucket& b) { return same_cache(*b.layers.front(), spec); });
    if (found != out.end()) {
      found->layers.push_back(&spec);
    } else {
      out.push_back({{&spec}});
    }
  }
  return out;
}

std::int64_t group_size_of(const std::vector<Bucket>& buckets, double ratio) {
  std::size_t low = buckets.front().layers.size(), high = low;
  for (const Bucket& bucket : buckets) {
    low = std::min(low, bucket.layers.size());
    high = std::max(high, bucket.layers.size());
  }
  return static_cast<std::int64_t>(static_cast<double>(high) < static_cast<double>(low) * ratio ? high : low);
}

// Layers i, i + groups, i + 2*groups ... form group i; the largest group on a stage decides what a block costs there.
std::int64_t largest_on_stage(const Bucket& bucket, std::int64_t groups, int stage) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(groups), 0);
  for (std::size_t i = 0; i < bucket.layers.size(); ++i) {
    if (stage < 0 || bucket.layers[i]->stage == stage) ++sizes[i % sizes.size()];
  }
  return *std::max_element(sizes.begin(), sizes.end());
}

// What a request's page costs the fit check: this stage's layers, or (older versions) the whole model's.
std::int64_t charged(const std::vector<Bucket>& buckets, const std::vector<std::int64_t>& counts, int stage) {
  std::int64_t most = 0;
  for (std::size_t b = 0; b < buckets.size(); ++b) most = std::max(most, largest_on_stage(buckets[b], counts[b], stage));
  return most;
}

std::vector<KvLayout> split_buckets(const std::vector<KvSpec>& specs, const KvLayout& common, const Settings& settings,
                                    const Rules& rules, const Traits& traits) {
  const std::vector<Bucket> buckets = buckets_of(specs);
  const std::int64_t size = group_size_of(buckets, rules.pick("kv_grouping", traits).value("ratio"));
  const bool whole_model = rules.pick("kv_check", traits).is("pipeline", "whole_model");
  KvLayout base = common;
  std::vector<std::int64_t> counts;
  for (const Bucket& bucket : buckets) {
    const auto layers = static_cast<std::int64_t>(bucket.layers.size());
    KvGroup group = group_of(*bucket.layers.front());
    group.count = cdiv(layers, size);
    group.layers = layers;
    base.group_count += group.count;
    base.padding_layers += group.count * size - layers;
    counts.push_back(group.count);
    base.groups.push_back(group);
  }
  base.page_bytes = specs.front().page();
  std::vector<KvLayout> out;
  for (int stage = 0; stage < settings.pp; ++stage) {
    KvLayout layout = base;
    layout.group_size = charged(buckets, counts, settings.pp == 1 ? -1 : stage);
    layout.bytes_per_block = checked_mul(layout.page_bytes, layout.group_size);
    const std::int64_t check =
        checked_mul(layout.page_bytes, charged(buckets, counts, whole_model || settings.pp == 1 ? -1 : stage));
    for (KvGroup& group : layout.groups) group.bytes = check;
    out.push_back(std::move(layout));
  }
  return out;
}

// One group over all layers; pages may differ.
std::vector<KvLayout> one_group(const std::vector<KvSpec>& specs, const KvLayout& common, const Settings& settings,
                                const Rules& rules, const Traits& traits) {
  const bool whole_model = rules.pick("kv_check", traits).is("pipeline", "whole_model");
  std::int64_t sum = 0;
  for (const KvSpec& spec : specs) sum = checked_add(sum, spec.page());
  std::vector<KvLayout> out;
  for (int stage = 0; stage < settings.pp; ++stage) {
    KvLayout layout = common;
    KvGroup group = group_of(specs.front());
    group.layers = static_cast<std::int64_t>(specs.size());
    for (const KvSpec& spec : specs) {
      if (settings.pp > 1 && spec.stage != stage) continue;
      layout.bytes_per_block = checked_add(layout.bytes_per_block, spec.page());
      ++layout.group_size;
    }
    group.bytes = whole_model ? sum : layout.bytes_per_block;
    layout.groups = {group};
    layout.group_count = 1;
    if (all_same(specs)) {
      layout.page_bytes = specs.front().page();
    } else {
      layout.group_size = 0;
    }
    out.push_back(std::move(layout));
  }
  return out;
}

// Versions before grouped checks sum every layer's own need, before pages are unified.
void check_layer_by_layer(const std::vector<KvSpec>& specs, const Settings& settings, std::vector<KvLayout>& layouts) {
  for (const Bucket& bucket : buckets_of(specs)) {
    for (int stage = 0; stage < settings.pp; ++stage) {
      KvGroup group = group_of(*bucket.layers.front());
      group.layers = largest_on_stage(bucket, 1, settings.pp == 1 ? -1 : stage);
      group.bytes = checked_mul(group.layers, bucket.layers.front()->page());
      if (group.layers > 0) layouts[static_cast<std::size_t>(stage)].checked.push_back(group);
    }
  }
}

KvLayout common_layout(const Settings& settings, const Rules& rules, const Traits& traits) {
  KvLayout layout;
  layout.context_shards = settings.dcp;
  layout.null_block_charged = rules.pick("kv_check", traits).is("null_block", "charged");
  const std::string word = rules.pick("kv_tokens", traits).word("count");
  layout.token_count = word == "blocks"         ? TokenCount::blocks
                       : word == "group_blocks" ? TokenCount::group_blocks
                                                : TokenCount::concurrency;
  return layout;
}

// block_size is that of the first group that holds tokens, smallest_block the least of all that do.
void note_blocks(KvLayout& layout) {
  bool first = true;
  for (const KvGroup& group : layout.groups) {
    if (group.block_size <= 0) continue;
    if (first) layout.block_size = layout.smallest_block = group.block_size;
    layout.smallest_block = std::min(layout.smallest_block, group.block_size);
    first = false;
  }
}

// Two checks of models with recurrent states that do not depend on memory or length.
void note_state_limits(const Settings& settings, const Rules& rules, const Traits& traits, KvLayout& layout) {
  const bool states = std::any_of(layout.groups.begin(), layout.groups.end(),
                                  [](const KvGroup& group) { return group.kind == KvKind::state; });
  if (!states) return;
  const bool graphs = !settings.eager && settings.full_capture_sizes > 0;
  layout.limits_sequences = graphs && rules.pick("mamba_blocks_check", traits).is("enforced", "yes");
  const bool whole_blocks =
      settings.mamba_mode == MambaMode::align && rules.pick("align_assert", traits).is("enforced", "yes");
  layout.least_batch = whole_blocks ? layout.block_size : 0;
}

}  // namespace

std::vector<KvLayout> group_layers(std::vector<KvSpec> specs, const Settings& settings, const Rules& rules,
                                   const Traits& traits) {
  const KvLayout common = common_layout(settings, rules, traits);
  std::vector<KvLayout> out;
  if (specs.empty()) {
    out.assign(static_cast<std::size_t>(settings.pp), common);
    return out;
  }
  if (!settings.hybrid_kv_manager) promote_windows(specs);
  const std::vector<KvSpec> before = specs;
  if (all_same(specs) || (uniform_type(specs) && rules.pick("kv_grouping", traits).is("uniform_type", "yes"))) {
    out = one_group(specs, common, settings, rules, traits);
  } else if (needs_packing(specs)) {
    for (int stage = 0; stage < settings.pp; ++stage) {
      KvLayout layout = common;
      pack_groups(specs, settings.pp == 1 ? -1 : stage, rules, traits, layout);
      out.push_back(std::move(layout));
    }
  } else if (promote_beside_latent(specs, rules, traits)) {
    out = one_group(specs, common, settings, rules, traits);
  } else {
    KvLayout layout = common;
    unify_pages(specs, rules, traits, layout);
    out = split_buckets(specs, layout, settings, rules, traits);
  }
  if (rules.pick("kv_check", traits).is("sums", "layers")) check_layer_by_layer(before, settings, out);
  for (KvLayout& layout : out) {
    note_blocks(layout);
    note_state_limits(settings, rules, traits, layout);
  }
  return out;
}

std::vector<KvLayout> kv_layouts(const models::Model& model, const Speculative* speculative, const Settings& settings,
                                 const Rules& rules, const Traits& traits) {
  std::vector<KvSpec> specs = kv_specs(model, speculative, settings, rules, traits);
  const HybridBlock hybrid = align_hybrid(specs, model, settings, rules, traits);
  std::vector<KvLayout> out = group_layers(std::move(specs), settings, rules, traits);
  for (KvLayout& layout : out) layout.hybrid = hybrid;
  return out;
}

}  // namespace kvfit::planner
