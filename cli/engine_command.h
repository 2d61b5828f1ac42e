// kvfit boot --engine: the real engine, started with the plan's own serve line and held against the plan.
#pragma once

#include "cli/args.h"
#include "cli/console.h"
#include "cli/wanted_plan.h"

namespace kvfit::cli {

int boot_engine(const Args& args, const Console& console, const WantedPlan& wanted);

}  // namespace kvfit::cli
