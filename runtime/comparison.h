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
#include "runtime/likely_cause.h"

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
  std::string cause;  ///< likely cause of it, or a defect of the engine that the log shows; may be empty
  std::string cause_source;
  std::vector<AssumedSetting> assumed;           ///< what neither the log nor the question states
  std::optional<SolvedUtilization> utilization;  ///< where it was assumed, and the figures ask for another
  std::vector<planner::Correction> corrections;  ///< what the log teaches; empty when it states nothing to learn from
  bool other_weights = false;  ///< they differ by more than a quarter: another checkpoint, no correction is learnt of them
};

/// `evaluator` is of the log's own configuration (log_settings.h fills in what the log states). Of an engine other than vLLM
/// only what does not hang on its accounting is compared: weights, and tokens given the printed KV memory.
Comparison compare(const BootLog& log, const planner::Evaluator& evaluator);

}  // namespace kvfit::runtime
