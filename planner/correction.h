// What was measured on the machine at hand replaces what the model predicts: differences learnt from a boot log, added to
// the prediction of the same machine, model and engine version. A corrected quantity's bar shrinks to the print's rounding
// and the boot-to-boot spread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/ledger.h"

namespace kvfit::planner {

struct MemorySums;

enum class Quantity { weights, activation, non_torch, graph_estimate, graphs };
/// "weights", "activation", "non_torch", "graph_estimate", "graphs".
std::string_view quantity_name(Quantity quantity);

struct Correction {
  Quantity quantity = Quantity::weights;
  Bytes difference;    ///< measured - predicted
  Bytes error;         ///< half width of the 90 % bar that remains
  std::string source;  ///< what it was learnt from, e.g. "boot.log"
};

/// Adds the differences to the sums and replaces their bars.
void apply(const std::vector<Correction>& corrections, MemorySums& sums);

/// The same as ledger entries ("weights.correction" ...), so that sections still sum to the sums; graphs count outside the
/// budget.
std::vector<Entry> correction_entries(const std::vector<Correction>& corrections, const MemorySums& uncorrected);

}  // namespace kvfit::planner
