// The comment that begins every serving file: what was planned, with what verdict and headroom, what was assumed, and how to
// write the file again. No clock, no host name: the same plan makes the same bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/args.h"
#include "cli/report.h"
#include "runtime/serving_unit.h"

namespace kvfit::cli {

/// First 16 digits of the SHA-256 of the plan's result (`kvfit plan --format json`).
std::string plan_digest(const Report& report);

std::vector<std::string> emit_header(const Report& report, const runtime::ServingUnit& unit,
                                     const runtime::ServingFacts& facts, const Args& args, std::string_view target);

/// One line for each distinct GPU of the plan: what it holds of each section, and what stays free.
std::vector<std::string> rank_lines(const Report& report);

}  // namespace kvfit::cli
