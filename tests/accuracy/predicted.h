// The figures of one rank that a log prints, as the planner gives them, each with its bar.
#pragma once

#include <vector>

#include "planner/evaluator.h"
#include "tests/accuracy/observation.h"

namespace kvfit::accuracy {

struct Predicted {
  planner::Amount weights, activation, non_torch, graphs, available;
  bool captures = true;  ///< CUDA graphs are captured at all
};

/// Of the stage whose lines the row shows: the first one, or with pipeline stages the one whose weights it printed.
/// `merged`: this version adds the graph estimate to the peak it prints.
Predicted predicted_of(const planner::Numbers& numbers, const Observation& row, bool merged);

/// Lets the bars reach the farthest of the answers to one gap in a row; gaps add in quadrature.
void widen(Predicted& predicted, const Predicted& asked, const std::vector<Predicted>& others);

}  // namespace kvfit::accuracy
