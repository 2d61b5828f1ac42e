// From what was planned and what was measured to a verdict a check.
#pragma once

#include <string>
#include <vector>

#include "planner/plan.h"
#include "runtime/boot_test.h"
#include "runtime/checkpoint_stream.h"

namespace kvfit::runtime {

struct BootCheck {
  enum class Unit { bytes, bytes_per_second, number };
  std::string id;    ///< "total", "free_at_start", "allocation", "contents", "write_rate", "read_rate", "left_free",
                     ///< "release", "checkpoint", "stream_rate", "expert"
  std::string text;  ///< for people, one line
  Unit unit = Unit::bytes;
  double planned = 0, measured = 0;
  bool has_planned = true;  ///< false: nothing to compare with
  planner::Verdict verdict = planner::Verdict::fits;
  std::string remark;  ///< what it means and how to mend it; empty when all is well
};

/// In the order in which they were measured.
std::vector<BootCheck> judge_boot(const BootPlan& plan, const BootMeasurement& measured);

/// Of a streamed checkpoint: its bytes, its rate, and the product with one expert where there is one.
std::vector<BootCheck> judge_stream(const StreamMeasurement& measured);

/// The worst of all checks: does_not_fit, then tight, then fits.
planner::Verdict boot_verdict(const std::vector<BootCheck>& checks);

/// The entry that did not fit, or was not tried for want of memory the cap leaves; nullptr when all fit. A user's own
/// --limit is no failure.
const MeasuredEntry* failed_entry(const BootMeasurement& measured);

/// Bytes an engine could have had at once: what was held, and what the refused entry still got. Meaningful after a refusal.
Bytes usable(const BootMeasurement& measured);

}  // namespace kvfit::runtime
