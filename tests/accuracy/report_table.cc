#include <algorithm>
#include <map>

#include "profiles/text.h"
#include "tests/accuracy/report.h"
#include "tests/accuracy/statistics.h"

namespace kvfit::accuracy {

using profiles::format;

namespace {

std::string share(std::optional<double> value) { return value ? format("{:.0f} %", 100 * *value) : "-"; }

std::string summary_line(const std::string& name, const Summary& s, const std::string& unit) {
  if (s.n == 0) return format("  {:<32} {:>4} {:>8}\n", name, 0, s.unpriced);
  return format("  {:<32} {:>4} {:>8} {:>+9.3f} {:>9.3f} {:>9.3f} {:<4} {:>6} {:>7}  {} ({:+.2f})\n", name, s.n, s.unpriced,
                s.mean, s.median_abs, s.p90_abs, unit, share(s.exact), share(s.coverage), s.worst_id, s.worst);
}

std::string quantities(std::span<const RowScore> rows) {
  std::string out = format("  {:<32} {:>4} {:>8} {:>9} {:>9} {:>9} {:<4} {:>6} {:>7}  {}\n", "quantity", "n", "unpriced",
                           "mean", "median|e|", "p90|e|", "unit", "exact", "90% bar", "worst row");
  for (int i = 0; i < kQuantities; ++i) {
    const Quantity quantity = static_cast<Quantity>(i);
    out += summary_line(quantity_name(quantity), summarise(rows, quantity), quantity_unit(quantity));
    for (const Group group : {Group::fully_stated, Group::sweep, Group::field, Group::uma_rocm}) {
      const Summary summary = summarise(rows, quantity, group);
      if (summary.n > 0) out += summary_line("  " + group_name(group), summary, quantity_unit(quantity));
    }
  }
  return out;
}

std::string verdicts(std::span<const RowScore> rows) {
  const Verdicts v = count_verdicts(rows);
  std::string out = format("  recorded refusals {}: called {}, class named {}\n", v.failures, v.called, v.class_named);
  out += format("  recorded out-of-memory {}: answered no or tight {}\n", v.oom, v.oom_called);
  out += format("  good boots {}: refused {}, tight {}\n", v.good, v.refused_good, v.tight_good);
  const Confusion table = confusion(rows);
  if (table.recorded.empty()) return out;
  out += format("\n  {:<14}", "recorded");
  for (const std::string& answer : table.answers) out += format(" {:>18}", answer);
  out += "\n";
  for (std::size_t i = 0; i < table.recorded.size(); ++i) {
    out += format("  {:<14}", table.recorded[i]);
    for (const int count : table.counts[i]) out += count > 0 ? format(" {:>18}", count) : format(" {:>18}", ".");
    out += "\n";
  }
  return out;
}

/// Reasons with how many rows share each, most first.
std::string reasons(std::span<const RowScore> rows, const std::vector<Rejected>& rejected) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const RowScore& row : rows) {
    if (row.unpriced) by_reason[*row.unpriced].push_back(row.id);
  }
  for (const Rejected& reject : rejected) by_reason[reject.why].push_back(reject.id);
  std::vector<std::pair<std::string, std::vector<std::string>>> sorted(by_reason.begin(), by_reason.end());
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const std::pair<std::string, std::vector<std::string>>& a,
         const std::pair<std::string, std::vector<std::string>>& b) { return a.second.size() > b.second.size(); });
  std::string out;
  for (const std::pair<std::string, std::vector<std::string>>& entry : sorted) {
    out += format("  {:>3}  {}: {}\n", entry.second.size(), entry.first, profiles::join(entry.second, ", "));
  }
  return out;
}

}  // namespace

std::string row_lines(std::span<const RowScore> rows) {
  std::string out = "\nrows\n";
  for (const RowScore& row : rows) {
    for (const Score& score : row.scores) {
      out += format("  {} {}: printed {:.4g} predicted {:.4g} ({:+.3f} {}){}{}{}\n", row.id, quantity_name(score.quantity),
                    score.printed, score.predicted, score.error, quantity_unit(score.quantity), score.exact ? " exact" : "",
                    score.bar ? format(" bar {:.3f}", *score.bar) : "",
                    score.solved.empty() ? "" : format(" [{}]", profiles::join(score.solved, ", ")));
    }
    for (const Skipped& skipped : row.skipped)
      out += format("  {} {}: {}\n", row.id, quantity_name(skipped.quantity), skipped.why);
    if (row.verdict) {
      out += format("  {} verdict: recorded {}, answer {} {}\n", row.id, outcome_name(row.verdict->recorded),
                    planner::verdict_name(row.verdict->verdict), row.verdict->binding);
    }
    if (!row.breakdown.empty()) out += format("  {} breakdown: {}\n", row.id, row.breakdown);
    if (!row.unstated.empty()) out += format("  {} unstated: {}\n", row.id, profiles::join(row.unstated, ", "));
  }
  return out;
}

std::string table(std::span<const RowScore> rows, const std::vector<Rejected>& rejected) {
  std::string out = format("{} rows, {} read\n\nquantities\n", rows.size() + rejected.size(), rows.size());
  out += quantities(rows);
  out += "\nverdicts\n" + verdicts(rows);
  const std::string unpriced = reasons(rows, rejected);
  if (!unpriced.empty()) out += "\nnot priced\n" + unpriced;
  return out;
}

}  // namespace kvfit::accuracy
