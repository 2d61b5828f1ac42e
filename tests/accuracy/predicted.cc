#include "tests/accuracy/predicted.h"

#include <algorithm>
#include <cmath>

namespace kvfit::accuracy {

using planner::Amount;
using planner::StageNumbers;
using profiles::Bytes;

namespace {

/// Two stages whose weights differ by less than this share cannot be told apart by them.
constexpr double kTellsApart = 0.015;

const StageNumbers& printed_stage(const planner::Numbers& numbers, const Observation& row) {
  const StageNumbers& first = numbers.stages.front();
  if (!row.measured.weights) return first;
  const double printed = row.measured.weights->value;
  const auto off = [printed](const StageNumbers& stage) {
    return std::abs(profiles::to_gib(stage.sums.weights.bytes) - printed);
  };
  if (off(first) < kTellsApart * printed) return first;
  return *std::min_element(numbers.stages.begin(), numbers.stages.end(),
                           [&off](const StageNumbers& a, const StageNumbers& b) { return off(a) < off(b); });
}

Bytes distance(Amount a, Amount b) { return Bytes(std::abs(a.bytes.count - b.bytes.count)); }

void reach(Amount& amount, Amount asked, const std::vector<Predicted>& others, Amount Predicted::* figure) {
  Bytes farthest;
  for (const Predicted& other : others) farthest = std::max(farthest, distance(other.*figure, asked));
  amount.error = planner::quadrature({amount.error, farthest});
}

}  // namespace

Predicted predicted_of(const planner::Numbers& numbers, const Observation& row, bool merged) {
  const StageNumbers& stage = printed_stage(numbers, row);
  Predicted out{.weights = stage.sums.weights,
                .activation = stage.sums.activation,
                .non_torch = stage.sums.non_torch,
                .graphs = stage.sums.graphs,
                .available = {stage.available, stage.available_error},
                .captures = !numbers.settings.eager};
  if (merged) {
    out.activation.bytes += stage.sums.graph_estimate.bytes;
    out.activation.error = planner::quadrature({out.activation.error, stage.sums.graph_estimate.error});
  }
  return out;
}

void widen(Predicted& predicted, const Predicted& asked, const std::vector<Predicted>& others) {
  for (Amount Predicted::* figure :
       {&Predicted::weights, &Predicted::activation, &Predicted::non_torch, &Predicted::graphs, &Predicted::available}) {
    reach(predicted.*figure, asked.*figure, others, figure);
  }
}

}  // namespace kvfit::accuracy
