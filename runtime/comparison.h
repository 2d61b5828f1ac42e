// Predicted against printed: a boot log held against the plan of the same configuration, line by line, in the order in which
// the engine computes. The first line that disagrees is where the model is wrong; everything after "Available KV cache
// memory" must agree exactly once that figure is given.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/correction.h"
#include "planner/evaluator.h"
#include "runtime/boot_log.h"

namespace kvfit::runtime {

enum class Agreement {
  exact,    ///< equal to the print's rounding
  inside,   ///< within the predicted bar
  outside,  ///< beyond it
};

struct ComparedLine {
  std::string id;                     ///< "total", "weights", "available_kv", "tokens" ...
  std::string text;                   ///< for people
  bool bytes = true;                  ///< false: a count
  double predicted = 0, printed = 0;  ///< GiB, or a count
  double bar = 0;                     ///< half width of the predicted bar, GiB
  bool given_available = false;       ///< predicted from the printed available KV, not from the configuration
  Agreement agreement = Agreement::exact;
  int line = 0;  ///< of the log
};

struct Comparison {
  std::vector<ComparedLine> lines;           ///< in the engine's order
  std::optional<std::size_t> first_outside;  ///< index of the first line beyond its bar
  std::string cause;  ///< likely cause of it, from the engine profile's table `log_causes`; may be empty
  std::string cause_source;
  std::vector<planner::Correction> corrections;  ///< what the log teaches; empty when it states nothing to learn from
};

/// `evaluator` is of the log's own configuration (settings_from_log fills what the log states).
Comparison compare(const BootLog& log, const planner::Evaluator& evaluator);

/// Serving settings as the log states them, over `base`.
planner::Serving settings_from_log(const BootLog& log, planner::Serving base);

}  // namespace kvfit::runtime
