// What `kvfit boot` says of a boot test: value and renderings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/listing.h"
#include "cli/report.h"
#include "runtime/boot_test.h"
#include "runtime/boot_verdict.h"

namespace kvfit::cli {

struct BootReport {
  std::string what;  ///< "Qwen3.6-35B-A3B-NVFP4 with 224 of 256 experts, 98,304 tokens, 16 sequences"
  std::string gpu;   ///< profile id of the plan
  runtime::BootPlan plan;
  runtime::BootMeasurement measured;
  std::vector<runtime::BootCheck> checks;
  std::string driver_library;
  int cuda_version = 0;
  bool wsl2 = false;
  std::optional<std::string> expert_tensor;  ///< whose product was compared
  std::optional<Report> largest;             ///< after a failure: the most that fits what was measured
  std::vector<std::string> remarks;
};

planner::Verdict verdict_of(const BootReport& report);
Listing boot_listing(const BootReport& report);

}  // namespace kvfit::cli
