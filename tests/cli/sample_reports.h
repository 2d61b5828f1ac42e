// Plans made by hand, one a verdict, for the renderers: the numbers are round so that a reader can check every sum.
#pragma once

#include <string>
#include <vector>

#include "cli/report.h"

namespace kvfit::cli::samples {

struct Sample {
  std::string name;  ///< "fits", "tight", "no-certain", "no-uncertain", "refused", "unknown"
  Report report;
};

std::vector<Sample> all();

}  // namespace kvfit::cli::samples
