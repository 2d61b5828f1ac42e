#include "carve/select.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "models/header_scanner.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

using profiles::fail_input;
using profiles::format;

constexpr double kNearTie = 1e-9;

// Experts named by hand in one block.
struct Named {
  std::set<std::int32_t> protect, drop;
};

// Numbers [first, first + count) from best to worst.
std::vector<std::int32_t> ranked(const std::vector<double>& scores, std::int32_t first, std::int32_t count,
                                 const Named& named) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), first);
  const auto tier = [&named](std::int32_t e) { return named.protect.contains(e) ? 0 : named.drop.contains(e) ? 2 : 1; };
  std::stable_sort(out.begin(), out.end(), [&](std::int32_t a, std::int32_t b) {
    if (tier(a) != tier(b)) return tier(a) < tier(b);
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  return out;
}

std::set<std::int32_t> of_block(const ExpertIds& ids, const Layout& layout, std::size_t block) {
  std::set<std::int32_t> out = ids.everywhere;
  for (const auto& [name, some] : ids.by_block) {
    if (find_block(layout, name) == block) out.insert(some.begin(), some.end());
  }
  return out;
}

void check_names(const ExpertIds& ids, const Layout& layout) {
  for (const auto& [name, some] : ids.by_block) {
    if (find_block(layout, name)) continue;
    fail_input(format("'{}' is no block of this checkpoint", models::printable(name)), {},
               format("blocks are named as '{}'", layout.blocks.front().prefix));
  }
}

Named named_in(const Layout& layout, const SelectOptions& options, std::size_t block) {
  const Named out{of_block(options.protect, layout, block), of_block(options.drop, layout, block)};
  for (const std::int32_t e : out.protect) {
    if (out.drop.contains(e)) fail_input(format("expert {} is both protected and dropped", e));
  }
  for (const std::set<std::int32_t>* list : {&out.protect, &out.drop}) {
    if (!list->empty() && (*list->begin() < 0 || *list->rbegin() >= layout.experts)) {
      fail_input(
          format("expert {} is not of 0 to {}", *list->begin() < 0 ? *list->begin() : *list->rbegin(), layout.experts - 1));
    }
  }
  return out;
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&values](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  std::vector<double> out(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) out[order[i]] = static_cast<double>(i);
  return out;
}

Choice choose(const BlockScore& score, const SelectOptions& options, const Named& named,
              const std::vector<double>& control) {
  Choice out;
  const std::int32_t experts = static_cast<std::int32_t>(score.values.size());
  const std::int32_t size = experts / static_cast<std::int32_t>(options.groups);
  const std::size_t keep = static_cast<std::size_t>(options.keep / options.groups);
  out.cut_gap = HUGE_VAL;
  for (std::int32_t group = 0; group < options.groups; ++group) {
    const std::vector<std::int32_t> order = ranked(score.values, group * size, size, named);
    out.kept.insert(out.kept.end(), order.begin(), order.begin() + static_cast<std::ptrdiff_t>(keep));
    if (keep == order.size()) continue;
    const double worst = score.values[static_cast<std::size_t>(order[keep - 1])];
    const double best = score.values[static_cast<std::size_t>(order[keep])];
    out.cut_gap = std::min(out.cut_gap, worst == 0 ? 0 : (worst - best) / std::abs(worst));
  }
  std::sort(out.kept.begin(), out.kept.end());
  if (out.cut_gap == HUGE_VAL) {
    out.cut_gap = 0;
  } else {
    out.near_tie = out.cut_gap < kNearTie;
  }
  out.router_spread = coefficient_of_variation(score.router);
  out.weight_spread = coefficient_of_variation(score.weight);
  if (!score.router.empty()) out.router_correlation = rank_correlation(score.values, score.router);
  out.random_correlation = rank_correlation(score.values, control);
  return out;
}

}  // namespace

double coefficient_of_variation(const std::vector<double>& values) {
  if (values.empty()) return 0;
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return mean == 0 ? 0 : std::sqrt(squares / count) / std::abs(mean);
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double n = static_cast<double>(a.size());
  if (a.size() < 2 || a.size() != b.size()) return 0;
  const std::vector<double> x = ranks(a);
  const std::vector<double> y = ranks(b);
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) squares += (x[i] - y[i]) * (x[i] - y[i]);
  return 1 - 6 * squares / (n * (n * n - 1));
}

ScoreReport rank_sum(const ScoreReport& a, const ScoreReport& b) {
  ScoreReport out;
  for (std::size_t i = 0; i < a.blocks.size(); ++i) {
    BlockScore& score = out.blocks.emplace_back();
    const std::vector<double> x = ranks(a.blocks[i].values);
    const std::vector<double> y = ranks(b.blocks[i].values);
    for (std::size_t e = 0; e < x.size(); ++e) score.values.push_back(-(x[e] + y[e]) / 2);
    score.router = a.blocks[i].router.empty() ? b.blocks[i].router : a.blocks[i].router;
    score.basis = "mean of two ranks";
  }
  out.bytes_read = a.bytes_read + b.bytes_read;
  out.plain_bytes_read = a.plain_bytes_read + b.plain_bytes_read;
  out.findings = a.findings;
  out.findings.insert(out.findings.end(), b.findings.begin(), b.findings.end());
  return out;
}

void check_ids(const Layout& layout, const SelectOptions& options) {
  check_names(options.protect, layout);
  check_names(options.drop, layout);
  const std::int64_t size = layout.experts / options.groups;
  const std::int64_t keep = options.keep / options.groups;
  const auto inside = [size](const std::set<std::int32_t>& ids, std::int64_t group) {
    return std::count_if(ids.begin(), ids.end(), [&](std::int32_t e) { return e / size == group; });
  };
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const Named named = named_in(layout, options, b);
    for (std::int64_t group = 0; group < options.groups; ++group) {
      if (inside(named.protect, group) > keep) {
        fail_input(format("{} of {} experts are to stay, and more are protected", keep, size));
      }
      if (inside(named.drop, group) > size - keep) {
        fail_input(format("{} of {} experts are to stay, and more are to be dropped", keep, size));
      }
    }
  }
}

std::vector<Choice> select_experts(const Layout& layout, const ScoreReport& scores, const SelectOptions& options) {
  check_ids(layout, options);
  const std::vector<std::vector<double>> random = random_scores(layout, 0);
  std::vector<Choice> out;
  for (std::size_t b = 0; b < scores.blocks.size(); ++b) {
    out.push_back(choose(scores.blocks[b], options, named_in(layout, options, b), random[b]));
  }
  return out;
}

}  // namespace kvfit::carve
