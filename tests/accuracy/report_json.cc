#include "tests/accuracy/report.h"
#include "tests/accuracy/statistics.h"

namespace kvfit::accuracy {

using profiles::Json;

namespace {

constexpr Group kGroups[] = {Group::fully_stated, Group::sweep, Group::field, Group::uma_rocm};

Json summary_json(const Summary& summary, const std::string& unit) {
  Json out;
  out["n"] = summary.n;
  out["unpriced"] = summary.unpriced;
  out["mean"] = summary.mean;
  out["median_abs"] = summary.median_abs;
  out["p90_abs"] = summary.p90_abs;
  out["unit"] = unit;
  out["coverage"] = summary.coverage ? Json(*summary.coverage) : Json(nullptr);
  out["exact"] = summary.exact;
  out["worst"] = {{"id", summary.worst_id}, {"error", summary.worst}};
  return out;
}

Json row_json(const RowScore& row) {
  Json out;
  out["id"] = row.id;
  Json groups = Json::array();
  for (const Group group : kGroups) {
    if (in_group(row.groups, group)) groups.push_back(group_name(group));
  }
  out["groups"] = groups;
  Json scores = Json::array();
  for (const Score& score : row.scores) {
    Json entry = {{"quantity", quantity_name(score.quantity)},
                  {"printed", score.printed},
                  {"predicted", score.predicted},
                  {"error", score.error},
                  {"exact", score.exact},
                  {"solved", score.solved},
                  {"detail", score.detail}};
    entry["bar"] = score.bar ? Json(*score.bar) : Json(nullptr);
    scores.push_back(entry);
  }
  out["scores"] = scores;
  Json skipped = Json::object();
  for (const Skipped& skip : row.skipped) skipped[quantity_name(skip.quantity)] = skip.why;
  out["skipped"] = skipped;
  if (row.verdict) {
    out["verdict"] = {{"answer", planner::verdict_name(row.verdict->verdict)},
                      {"binding", row.verdict->binding},
                      {"recorded", outcome_name(row.verdict->recorded)},
                      {"called", row.verdict->called},
                      {"class_named", row.verdict->class_named}};
  }
  out["unstated"] = row.unstated;
  return out;
}

}  // namespace

Json json(std::span<const RowScore> rows, const std::vector<Rejected>& rejected) {
  Json out;
  for (int i = 0; i < kQuantities; ++i) {
    const Quantity quantity = static_cast<Quantity>(i);
    Json entry = summary_json(summarise(rows, quantity), quantity_unit(quantity));
    for (const Group group : kGroups) {
      entry["groups"][group_name(group)] = summary_json(summarise(rows, quantity, group), quantity_unit(quantity));
    }
    out["quantities"][quantity_name(quantity)] = entry;
  }
  const Verdicts v = count_verdicts(rows);
  out["verdicts"] = {
      {"failures", v.failures},     {"called", v.called}, {"class_named", v.class_named},   {"oom", v.oom},
      {"oom_called", v.oom_called}, {"good", v.good},     {"refused_good", v.refused_good}, {"tight_good", v.tight_good}};
  const Confusion table = confusion(rows);
  Json matrix = Json::object();
  for (std::size_t i = 0; i < table.recorded.size(); ++i) {
    for (std::size_t j = 0; j < table.answers.size(); ++j) {
      if (table.counts[i][j] > 0) matrix[table.recorded[i]][table.answers[j]] = table.counts[i][j];
    }
  }
  out["confusion"] = matrix;
  out["rows"] = Json::array();
  out["unpriced"] = Json::array();
  for (const RowScore& row : rows) {
    out["rows"].push_back(row_json(row));
    if (row.unpriced) out["unpriced"].push_back({{"id", row.id}, {"why", *row.unpriced}});
  }
  for (const Rejected& reject : rejected) out["unpriced"].push_back({{"id", reject.id}, {"why", reject.why}});
  return out;
}

}  // namespace kvfit::accuracy
