// Which findings do not count: those that kvfit.yaml allows, and those that a baseline already has.
#pragma once

#include <string>

#include "cli/check_case.h"
#include "cli/project_config.h"

namespace kvfit::cli {

/// Fills fingerprints and the deployments' names of all findings. A fingerprint is of the finding's id, the file as seen
/// from kvfit.yaml, the deployment with its model and GPU, and what the finding is about: not of lines or measured numbers.
void mark_fingerprints(const ProjectConfig& config, CheckRun& run);

/// Marks what kvfit.yaml allows on the day `today` ("2026-11-30"); entries that ran out, or match nothing though all
/// their files were read, become findings.
void apply_allowances(const ProjectConfig& config, const std::string& today, CheckRun& run);

/// Marks the findings whose fingerprint an earlier `kvfit check --format json` has. Throws Error when `text` is none.
void apply_baseline(const std::string& text, const std::string& file, CheckRun& run);

/// The day: SOURCE_DATE_EPOCH where it is set (reproducible runs), else the clock's, in UTC.
std::string today(const std::string& source_date_epoch);

}  // namespace kvfit::cli
