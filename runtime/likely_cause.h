// Why a boot log may disagree with its plan: what the log did not state and had to be assumed, the utilisation that its
// figures ask for, and the engine profile's table `log_causes` for the first line that is off.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/evaluator.h"
#include "runtime/boot_log.h"

namespace kvfit::runtime {

/// A setting that neither the log nor the question states: the engine's default stands in.
struct AssumedSetting {
  std::string name;   ///< the engine's own: "gpu_memory_utilization"
  std::string value;  ///< "0.92"
};
std::vector<AssumedSetting> assumed_settings(const planner::Question& question, const planner::Settings& settings);

/// (available KV + weights + activation + outside torch + graph estimate) / total, each as printed where the log prints it.
struct SolvedUtilization {
  double assumed = 0, solved = 0;
  double error = 0;  ///< half width of the 90 % bar of `solved`
};
/// nullopt when the utilisation was stated, the log does not print the available memory, or the figures agree with the
/// default.
std::optional<SolvedUtilization> solve_utilization(const BootLog& log, const planner::Question& question,
                                                   const planner::Numbers& numbers);

struct Cause {
  std::string text, source;
};
/// `first_outside`: id of the first line beyond its bar, "" when there is none (a known defect of the engine may still
/// show).
std::optional<Cause> likely_cause(const BootLog& log, const std::string& first_outside,
                                  const std::optional<SolvedUtilization>& utilization, const planner::Evaluator& evaluator);

}  // namespace kvfit::runtime
