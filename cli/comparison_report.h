// A boot held against its plan, line by line, as a table and as JSON: what `calibrate` and `boot --engine` both print.
#pragma once

#include <string>
#include <vector>

#include "cli/listing.h"
#include "cli/table.h"
#include "profiles/json.h"
#include "runtime/boot_log.h"
#include "runtime/comparison.h"

namespace kvfit::cli {

Table comparison_table(const runtime::Comparison& comparison);
/// {"boot", "lines", "first_outside"?, "cause"?, "assumed"?, "utilization"?, "unusable"?}.
profiles::Json comparison_json(const runtime::BootLog& log, const runtime::Comparison& comparison);
/// The first line that disagrees, its likely cause, what was assumed or cannot be used, and how the boot ended; begins with
/// a blank line.
std::string comparison_footing(const runtime::BootLog& log, const runtime::Comparison& comparison);

/// One start of a log, compared.
struct ComparedBoot {
  std::string file, which;  ///< "start 2 of 3, from line 120", or "" when the file holds one
  std::string model, gpu, engine;
  runtime::BootLog log;
  runtime::Comparison comparison;
};
/// All of them, one below the other; keeps a reference to `boots`. As JSON {"boots": [...]}, in order.
Listing calibration_listing(const std::vector<ComparedBoot>& boots);

}  // namespace kvfit::cli
