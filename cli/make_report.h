// From a command line to a finished report: question, plan, published figures, serve line.
#pragma once

#include "cli/args.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "profiles/catalog.h"

namespace kvfit::cli {

Report make_report(const Args& args, const profiles::Catalog& catalog, const Environment& environment);

}  // namespace kvfit::cli
