// Prices one row: every quantity it prints, and the verdict against how the start ended.
#pragma once

#include "tests/accuracy/library.h"
#include "tests/accuracy/observation.h"
#include "tests/accuracy/score.h"

namespace kvfit::accuracy {

/// Never throws for what a row says: reasons end in RowScore::skipped and ::unpriced.
RowScore price(const Library& library, const Observation& row);

}  // namespace kvfit::accuracy
