// A boot held against its plan, line by line, as a table and as JSON: what `calibrate` and `boot --engine` both print.
#pragma once

#include <string>

#include "cli/table.h"
#include "profiles/json.h"
#include "runtime/boot_log.h"
#include "runtime/comparison.h"

namespace kvfit::cli {

Table comparison_table(const runtime::Comparison& comparison);
/// {"boot", "lines", "first_outside"?, "cause"?}.
profiles::Json comparison_json(const runtime::BootLog& log, const runtime::Comparison& comparison);
/// The first line that disagrees, its likely cause, and how the boot ended; begins with a blank line.
std::string comparison_footing(const runtime::BootLog& log, const runtime::Comparison& comparison);

}  // namespace kvfit::cli
