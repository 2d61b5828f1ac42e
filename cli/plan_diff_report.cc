// The renderings of a PlanDiff: table, markdown (a pull request's comment), JSON.
#include <string>
#include <string_view>
#include <vector>

#include "cli/plan_diff.h"
#include "cli/table.h"
#include "cli/version.h"
#include "cli/words.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {
namespace {

using profiles::format;
using profiles::Json;

struct Group {
  std::string_view name, title;
};
constexpr Group kGroups[] = {{"question", "Question"},
                             {"serving", "Serving"},
                             {"memory", "Memory of one GPU"},
                             {"kv", "KV cache"},
                             {"checks", "Checks, headroom"}};

// A side that lacks the value counts as none of it; so the column sums.
std::string difference(const Changed& change) {
  if (!change.before_number && !change.after_number) return "";
  const std::int64_t delta = profiles::checked_sub(change.after_number.value_or(0), change.before_number.value_or(0));
  if (change.bytes) return signed_gib(profiles::Bytes(delta)) + " GiB";
  return (delta > 0 ? "+" : "") + profiles::grouped(delta);
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, "\\");
  return text;
}

std::string verdict_line(const PlanDiff& diff) {
  if (diff.before_verdict == diff.after_verdict) return format("verdict unchanged: {}", diff.after_verdict);
  return format("verdict: {} -> {}", diff.before_verdict, diff.after_verdict);
}

Json side(const std::string& name, const std::string& verdict) { return {{"path", name}, {"verdict", verdict}}; }

}  // namespace

std::string diff_table(const PlanDiff& diff, const Screen& screen) {
  std::string out = format("{}\n  before  {}  ({})\n  after   {}  ({})\n", paint(verdict_line(diff), Tone::strong, screen),
                           diff.before_headline, diff.before_name, diff.after_headline, diff.after_name);
  if (diff.changes.empty()) return out + "\nnothing differs\n";
  for (const Group& group : kGroups) {
    Table table{.indent = 2,
                .columns = {{"", Align::left, true},
                            {"before", Align::right, false},
                            {"after", Align::right, false},
                            {"difference", Align::right, false}},
                .rows = {}};
    for (const Changed& change : diff.changes) {
      if (change.group != group.name) continue;
      table.rows.push_back({{change.key}, {or_dash(change.before)}, {or_dash(change.after)}, {difference(change)}});
    }
    if (table.rows.empty()) continue;
    out += format("\n{}\n{}", paint(group.title, Tone::strong, screen), render(table, screen));
  }
  return out;
}

std::string diff_markdown(const PlanDiff& diff) {
  std::string out = format("### kvfit: {}\n\n- before: {} (`{}`)\n- after: {} (`{}`)\n", verdict_line(diff),
                           diff.before_headline, diff.before_name, diff.after_headline, diff.after_name);
  if (diff.changes.empty()) return out + "\nNothing differs.\n";
  for (const Group& group : kGroups) {
    std::string rows;
    for (const Changed& change : diff.changes) {
      if (change.group != group.name) continue;
      rows += format("| `{}` | {} | {} | {} |\n", cell(change.key), cell(or_dash(change.before)),
                     cell(or_dash(change.after)), difference(change));
    }
    if (rows.empty()) continue;
    out += format("\n**{}**\n\n| | before | after | difference |\n|---|---:|---:|---:|\n{}", group.title, rows);
  }
  return out;
}

Json diff_json(const PlanDiff& diff) {
  Json out;
  out["schema"] = "kvfit.diff";
  out["format_version"] = "1.0";
  out["kvfit_version"] = std::string(version_number());
  out["inputs"] = {side(diff.before_name, diff.before_verdict), side(diff.after_name, diff.after_verdict)};
  Json result;
  result["same"] = diff.changes.empty() && diff.before_verdict == diff.after_verdict;
  result["before_verdict"] = diff.before_verdict;
  result["after_verdict"] = diff.after_verdict;
  result["changes"] = Json::array();
  for (const Changed& change : diff.changes) {
    Json row = {{"group", change.group}, {"key", change.key}};
    const std::string suffix = change.bytes ? "_bytes" : "";
    if (change.before_number) {
      row["before" + suffix] = *change.before_number;
    } else if (!change.before.empty()) {
      row["before"] = change.before;
    }
    if (change.after_number) {
      row["after" + suffix] = *change.after_number;
    } else if (!change.after.empty()) {
      row["after"] = change.after;
    }
    result["changes"].push_back(std::move(row));
  }
  out["result"] = std::move(result);
  out["findings"] = Json::array();
  return out;
}

}  // namespace kvfit::cli
