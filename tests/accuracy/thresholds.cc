#include "tests/accuracy/thresholds.h"

#include <optional>

#include "profiles/document.h"
#include "profiles/text.h"
#include "tests/accuracy/statistics.h"

namespace kvfit::accuracy {

using profiles::format;
using profiles::Node;

namespace {

std::optional<double> of_summary(const Summary& summary, std::string_view field) {
  if (field == "n") return summary.n;
  if (summary.n == 0) return std::nullopt;
  if (field == "median_abs") return summary.median_abs;
  if (field == "p90_abs") return summary.p90_abs;
  if (field == "exact") return summary.exact;
  if (field == "coverage") return summary.coverage;
  return std::nullopt;
}

std::optional<double> share(int part, int whole) {
  return whole > 0 ? std::optional<double>(static_cast<double>(part) / whole) : std::nullopt;
}

std::optional<double> of_verdicts(const Verdicts& v, std::string_view field) {
  if (field == "called") return share(v.called, v.failures);
  if (field == "class_named") return share(v.class_named, v.failures);
  if (field == "oom_called") return share(v.oom_called, v.oom);
  if (field == "refused_good") return share(v.refused_good, v.good);
  if (field == "tight_good") return share(v.tight_good, v.good);
  return std::nullopt;
}

/// "weights.sweep.p90_abs", "verdicts.called".
std::optional<double> figure_of(std::span<const RowScore> rows, const std::string& name) {
  const std::size_t first = name.find('.');
  const std::size_t last = name.rfind('.');
  if (first == std::string::npos) return std::nullopt;
  const std::string_view field = std::string_view(name).substr(last + 1);
  if (name.starts_with("verdicts.")) return of_verdicts(count_verdicts(rows), field);
  for (int i = 0; i < kQuantities; ++i) {
    const Quantity quantity = static_cast<Quantity>(i);
    if (name.substr(0, first) != quantity_name(quantity)) continue;
    for (const Group group : {Group::all, Group::fully_stated, Group::sweep, Group::field, Group::uma_rocm}) {
      if (last > first && name.substr(first + 1, last - first - 1) == group_name(group)) {
        return of_summary(summarise(rows, quantity, group), field);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Threshold> read_thresholds(const std::string& path) {
  const Node document = profiles::parse_yaml(profiles::read_text_file(path), path);
  std::vector<Threshold> out;
  for (const Node& entry : document.at("gate").list()) {
    profiles::Fields fields(entry);
    Threshold threshold;
    threshold.figure = fields.at("figure").string();
    const Node* least = fields.find("least");
    threshold.at_least = least != nullptr;
    threshold.limit = least != nullptr ? least->number() : fields.at("most").number();
    fields.finish();
    out.push_back(std::move(threshold));
  }
  return out;
}

std::vector<std::string> broken_thresholds(std::span<const RowScore> rows, const std::vector<Threshold>& thresholds) {
  std::vector<std::string> out;
  for (const Threshold& threshold : thresholds) {
    const std::optional<double> value = figure_of(rows, threshold.figure);
    if (!value) {
      out.push_back(format("{}: no such figure, or no row for it", threshold.figure));
    } else if (threshold.at_least ? *value < threshold.limit : *value > threshold.limit) {
      out.push_back(format("{} is {:.4g}, must be {} {:.4g}", threshold.figure, *value,
                           threshold.at_least ? "at least" : "at most", threshold.limit));
    }
  }
  return out;
}

}  // namespace kvfit::accuracy
