// The regression gate: figures of the table against limits in a file. `must` is what the tool is held to and breaks the
// build; `goal` is what was promised, and what is missed is explained row by row in README.md here.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tests/accuracy/score.h"

namespace kvfit::accuracy {

/// One line of the file: {figure: weights.all.median_abs, most: 0.05}.
struct Threshold {
  std::string figure;
  double limit = 0;
  bool at_least = false;
};

/// YAML: `gate:` a list of {figure, most | least}. Throws profiles::Error with the place.
std::vector<Threshold> read_thresholds(const std::string& path);

/// One line for each figure on the wrong side of its limit, and for each figure that does not exist.
std::vector<std::string> broken_thresholds(std::span<const RowScore> rows, const std::vector<Threshold>& thresholds);

}  // namespace kvfit::accuracy
