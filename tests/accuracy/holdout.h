// How right kvfit is on boots it was not fitted on. For each public source (one log, one issue) the engine's measured rows
// that no other source's boots reach are struck, and that source's boots are priced with what is left: the next row that
// applies, or none. Rows that several sources support stay as they are; their constants are not fitted anew.
#pragma once

#include <string>
#include <vector>

#include "profiles/catalog.h"
#include "tests/accuracy/observation.h"
#include "tests/accuracy/score.h"

namespace kvfit::accuracy {

struct Holdout {
  std::vector<RowScore> scores;  ///< memory quantities and verdicts only; rows that reach no struck row as they were
  int measured_rows = 0;         ///< rows of the engine's profile that rest on boots
  int single_source = 0;         ///< of these: reached by the boots of one source alone
  int boots = 0;                 ///< boots priced without at least one row
};

/// `engine_profile`: path of profiles/engines/vllm.yaml, one row a line. Takes minutes: every measured row is struck once.
Holdout hold_out(const profiles::Catalog& catalog, const std::string& engine_profile, const std::vector<Observation>& rows);

}  // namespace kvfit::accuracy
