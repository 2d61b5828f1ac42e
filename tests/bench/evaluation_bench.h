// How many configurations of one question the planner prices in a second.
#pragma once

namespace kvfit::bench {

/// Evaluations per second of CPU time: the default model on the GPU rtx5090-24g, over expert counts, contexts, sequences and
/// utilisations, so that no two neighbouring evaluations are of one point.
double evaluations_per_second();

}  // namespace kvfit::bench
