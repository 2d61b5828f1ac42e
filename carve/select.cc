#include "carve/select.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

using profiles::fail_input;
using profiles::format;

constexpr double kNearTie = 1e-9;

// Numbers [first, first + count) from best to worst.
std::vector<std::int32_t> ranked(const std::vector<double>& scores, std::int32_t first, std::int32_t count,
                                 const SelectOptions& options) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), first);
  const auto tier = [&options](std::int32_t e) {
    return options.protect.contains(e) ? 0 : options.drop.contains(e) ? 2 : 1;
  };
  std::stable_sort(out.begin(), out.end(), [&](std::int32_t a, std::int32_t b) {
    if (tier(a) != tier(b)) return tier(a) < tier(b);
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  return out;
}

void check_lists(const SelectOptions& options, std::int64_t experts) {
  for (const std::int32_t e : options.protect) {
    if (options.drop.contains(e)) fail_input(format("expert {} is both protected and dropped", e));
  }
  for (const std::set<std::int32_t>* list : {&options.protect, &options.drop}) {
    if (!list->empty() && (*list->begin() < 0 || *list->rbegin() >= experts)) {
      fail_input(format("expert {} is not of 0 to {}", *list->begin() < 0 ? *list->begin() : *list->rbegin(), experts - 1));
    }
  }
}

void check_group(const SelectOptions& options, const std::vector<std::int32_t>& order, std::size_t keep) {
  if (keep < order.size() && options.protect.contains(order[keep])) {
    fail_input(format("{} of {} experts are to stay, and more are protected", keep, order.size()));
  }
  if (keep > 0 && options.drop.contains(order[keep - 1])) {
    fail_input(format("{} of {} experts are to stay, and more are to be dropped", keep, order.size()));
  }
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&values](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  std::vector<double> out(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) out[order[i]] = static_cast<double>(i);
  return out;
}

Choice choose(const BlockScore& score, const SelectOptions& options, const std::vector<double>& control) {
  Choice out;
  const std::int32_t experts = static_cast<std::int32_t>(score.values.size());
  const std::int32_t size = experts / static_cast<std::int32_t>(options.groups);
  const std::size_t keep = static_cast<std::size_t>(options.keep / options.groups);
  out.cut_gap = HUGE_VAL;
  for (std::int32_t group = 0; group < options.groups; ++group) {
    const std::vector<std::int32_t> order = ranked(score.values, group * size, size, options);
    check_group(options, order, keep);
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

std::vector<Choice> select_experts(const Layout& layout, const ScoreReport& scores, const SelectOptions& options) {
  check_lists(options, layout.experts);
  const std::vector<std::vector<double>> random = random_scores(layout, 0);
  std::vector<Choice> out;
  for (std::size_t b = 0; b < scores.blocks.size(); ++b) out.push_back(choose(scores.blocks[b], options, random[b]));
  return out;
}

}  // namespace kvfit::carve
