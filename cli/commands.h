// The verbs. Each takes a checked command line and returns the exit code; unusable input is thrown as profiles::Error.
#pragma once

#include "cli/args.h"
#include "cli/console.h"
#include "planner/plan.h"

namespace kvfit::cli {

enum ExitCode : int { kYes = 0, kNo = 1, kNoAnswer = 2, kRefused = 3, kEnvironment = 4, kBug = 70, kInterrupted = 130 };

/// Of a verdict: 0 fits or tight, 1 does not fit, 2 unknown, 3 refused.
int exit_code(planner::Verdict verdict);

int plan_command(const Args& args, const Console& console);
int emit_command(const Args& args, const Console& console);
int diff_command(const Args& args, const Console& console);
int check_command(const Args& args, const Console& console);
int explain_command(const Args& args, const Console& console);
int calibrate_command(const Args& args, const Console& console);
int carve_command(const Args& args, const Console& console);
int boot_command(const Args& args, const Console& console);
int gpus_command(const Args& args, const Console& console);
int models_command(const Args& args, const Console& console);
int schema_command(const Args& args, const Console& console);
int completions_command(const Args& args, const Console& console);
int config_command(const Args& args, const Console& console);
int man_command(const Args& args, const Console& console);
int help_command(const Args& args, const Console& console);

}  // namespace kvfit::cli
