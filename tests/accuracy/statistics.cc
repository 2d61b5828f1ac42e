#include "tests/accuracy/statistics.h"

#include <algorithm>
#include <cmath>

namespace kvfit::accuracy {

std::string quantity_name(Quantity quantity) {
  switch (quantity) {
    case Quantity::kv_given_available:
      return "kv_given_available";
    case Quantity::weights:
      return "weights";
    case Quantity::available_kv_tp1:
      return "available_kv_tp1";
    case Quantity::available_kv_tp:
      return "available_kv_tp";
    case Quantity::refusal_numbers:
      return "refusal_numbers";
    case Quantity::graphs:
      return "graphs";
    case Quantity::activation:
      return "activation";
    case Quantity::non_torch:
      return "non_torch";
  }
  return "";
}

std::string quantity_unit(Quantity quantity) {
  const bool percent =
      quantity == Quantity::kv_given_available || quantity == Quantity::weights || quantity == Quantity::refusal_numbers;
  return percent ? "%" : "GiB";
}

bool in_group(const Groups& groups, Group group) {
  switch (group) {
    case Group::all:
      return true;
    case Group::fully_stated:
      return groups.fully_stated;
    case Group::sweep:
      return groups.sweep;
    case Group::field:
      return groups.field;
    case Group::uma_rocm:
      return groups.uma_rocm;
  }
  return false;
}

std::string group_name(Group group) {
  switch (group) {
    case Group::all:
      return "all";
    case Group::fully_stated:
      return "fully_stated";
    case Group::sweep:
      return "sweep";
    case Group::field:
      return "field";
    case Group::uma_rocm:
      return "uma_rocm";
  }
  return "";
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

Summary summarise(std::span<const RowScore> rows, Quantity quantity, Group group) {
  Summary out;
  std::vector<double> absolute;
  double sum = 0;
  int exact = 0, held = 0;
  for (const RowScore& row : rows) {
    if (!in_group(row.groups, group)) continue;
    for (const Skipped& skipped : row.skipped) out.unpriced += skipped.quantity == quantity ? 1 : 0;
    for (const Score& score : row.scores) {
      if (score.quantity != quantity) continue;
      ++out.n;
      sum += score.error;
      absolute.push_back(std::abs(score.error));
      exact += score.exact ? 1 : 0;
      if (out.n == 1 || absolute.back() > std::abs(out.worst)) {
        out.worst = score.error;
        out.worst_id = row.id;
      }
      if (!score.bar) continue;
      ++out.barred;
      held += score.exact || absolute.back() <= *score.bar ? 1 : 0;
    }
  }
  if (out.n == 0) return out;
  out.mean = sum / out.n;
  out.median_abs = median(absolute);
  out.p90_abs = percentile(absolute, 0.9);
  out.exact = static_cast<double>(exact) / out.n;
  if (out.barred > 0) out.coverage = static_cast<double>(held) / out.barred;
  return out;
}

Verdicts count_verdicts(std::span<const RowScore> rows) {
  Verdicts out;
  for (const RowScore& row : rows) {
    if (!row.verdict) continue;
    const VerdictScore& v = *row.verdict;
    switch (v.recorded) {
      case Outcome::free_memory:
      case Outcome::no_blocks:
      case Outcome::kv_too_small:
      case Outcome::mamba_blocks:
        ++out.failures;
        out.called += v.called ? 1 : 0;
        out.class_named += v.class_named ? 1 : 0;
        break;
      case Outcome::oom:
        ++out.oom;
        out.oom_called += v.called ? 1 : 0;
        break;
      case Outcome::good:
        ++out.good;
        out.refused_good += v.verdict == planner::Verdict::does_not_fit || v.verdict == planner::Verdict::refused ? 1 : 0;
        out.tight_good += v.verdict == planner::Verdict::tight ? 1 : 0;
        break;
      case Outcome::kernel:
      case Outcome::aside:
      case Outcome::unstated:
        break;
    }
  }
  return out;
}

namespace {

std::size_t index_of(std::vector<std::string>& names, const std::string& name) {
  const std::vector<std::string>::iterator found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

}  // namespace

Confusion confusion(std::span<const RowScore> rows) {
  Confusion out;
  out.answers = {"fits", "tight"};
  for (const RowScore& row : rows) {
    if (!row.verdict) continue;
    const bool no =
        row.verdict->verdict == planner::Verdict::does_not_fit || row.verdict->verdict == planner::Verdict::refused;
    const std::string answer = no ? "no: " + row.verdict->binding : std::string(planner::verdict_name(row.verdict->verdict));
    const std::size_t line = index_of(out.recorded, outcome_name(row.verdict->recorded));
    const std::size_t column = index_of(out.answers, answer);
    out.counts.resize(out.recorded.size());
    for (std::vector<int>& counts : out.counts) counts.resize(out.answers.size());
    ++out.counts[line][column];
  }
  return out;
}

}  // namespace kvfit::accuracy
