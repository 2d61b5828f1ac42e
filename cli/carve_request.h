// Flags of `kvfit carve` -> what the carve is asked to do.
#pragma once

#include <cstdint>
#include <string>

#include "carve/request.h"
#include "cli/args.h"
#include "cli/console.h"

namespace kvfit::cli {

/// All flags but the count. Throws Error on values that cannot be.
carve::Request carve_request(const Args& args, const std::string& source);

/// The count that --keep, --fit or --gpu ask for; notes on stderr what was chosen and why. Throws Error when none is given.
/// `auto` is the largest count of which every engine has a fused top-k kernel.
std::int64_t carve_keep(const Args& args, const Console& console, const carve::Request& request);

/// What engines do with `keep` of `experts`, by the table that `kvfit plan` uses, and the nearest count that is fast in all;
/// "" when this one is.
std::string kernel_remark(const Args& args, std::int64_t keep, std::int64_t experts);

}  // namespace kvfit::cli
