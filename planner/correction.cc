#include "planner/correction.h"

#include <string>
#include <string_view>
#include <vector>

#include "planner/memory_model.h"
#include "profiles/text.h"

namespace kvfit::planner {
namespace {

Amount& amount_of(MemorySums& sums, Quantity quantity) {
  switch (quantity) {
    case Quantity::weights:
      return sums.weights;
    case Quantity::activation:
      return sums.activation;
    case Quantity::non_torch:
      return sums.non_torch;
    case Quantity::graph_estimate:
      return sums.graph_estimate;
    case Quantity::graphs:
      return sums.graphs;
  }
  return sums.weights;
}

}  // namespace

std::string_view quantity_name(Quantity quantity) {
  switch (quantity) {
    case Quantity::weights:
      return "weights";
    case Quantity::activation:
      return "activation";
    case Quantity::non_torch:
      return "non_torch";
    case Quantity::graph_estimate:
      return "graph_estimate";
    case Quantity::graphs:
      return "graphs";
  }
  return "weights";
}

void apply(const std::vector<Correction>& corrections, MemorySums& sums) {
  for (const Correction& correction : corrections) {
    if (correction.quantity == Quantity::graph_estimate && sums.graph_estimate.bytes.count == 0) continue;
    Amount& amount = amount_of(sums, correction.quantity);
    amount.bytes += correction.difference;
    amount.error = correction.error;
    // Graphs are taken after the pool was sized, less what was set aside for them.
    if (correction.quantity == Quantity::graphs) sums.outside.bytes += correction.difference;
    if (correction.quantity == Quantity::graph_estimate) sums.outside.bytes -= correction.difference;
  }
}

std::vector<Entry> correction_entries(const std::vector<Correction>& corrections, const MemorySums& uncorrected) {
  std::vector<Entry> out;
  for (const Correction& correction : corrections) {
    const bool estimate = correction.quantity == Quantity::graph_estimate;
    if (estimate && uncorrected.graph_estimate.bytes.count == 0) continue;
    const Section section = correction.quantity == Quantity::weights  ? Section::weights
                            : correction.quantity == Quantity::graphs ? Section::outside
                                                                      : Section::profile;
    Entry entry{.label = profiles::format("correction.{}", quantity_name(correction.quantity)),
                .text = profiles::format("{}: measured here less predicted", quantity_name(correction.quantity)),
                .section = section,
                .bytes = correction.difference,
                .error = correction.error,
                .provenance = Provenance::measured,
                .source = correction.source};
    out.push_back(entry);
    if (!estimate) continue;
    entry.label = "correction.graphs_beyond_estimate";
    entry.text = "graphs covered by the corrected estimate";
    entry.section = Section::outside;
    entry.bytes = -correction.difference;
    out.push_back(entry);
  }
  return out;
}

}  // namespace kvfit::planner
