// kvfit carve job | run --job | merge | launch: a carve in parts.
#pragma once

#include <cstdint>
#include <string>

#include "carve/run.h"
#include "cli/args.h"
#include "cli/console.h"

namespace kvfit::cli {

int carve_job(const Args& args, const Console& console);
int carve_part(const Args& args, const Console& console);
int carve_merge(const Args& args, const Console& console);
int carve_launch(const Args& args, const Console& console);

/// `kvfit plan --carve-to`: writes the checkpoint of --model with the planned count; a note on stderr says what was written.
/// Error when --model is no directory or nothing is to be carved.
void carve_planned(const Args& args, const Console& console, std::int64_t keep, std::int64_t of,
                   const std::string& destination);

/// The flags under "Writing", but destination and progress.
carve::RunOptions carve_run_options(const Args& args);
bool shows_progress(const Args& args);
/// What a run reports.
int deliver_run(const Args& args, const Console& console, const carve::RunReport& report, const std::string& heading);

}  // namespace kvfit::cli
