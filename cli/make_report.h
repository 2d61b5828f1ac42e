// From a command line to a finished report: question, plan, published figures, serve line.
#pragma once

#include "cli/args.h"
#include "cli/question_builder.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "profiles/catalog.h"
#include "runtime/correction_store.h"

namespace kvfit::cli {

/// Under which local corrections of this configuration are kept.
runtime::CorrectionKey correction_key(const BuiltQuestion& built);

/// What boots of this very configuration taught on this machine (kvfit calibrate --keep).
void use_corrections(BuiltQuestion& built);

/// A report without its plan yet: takes question, engine, defaults and inputs out of `built`.
Report report_on(BuiltQuestion& built);

Report make_report(const Args& args, const profiles::Catalog& catalog, const Environment& environment,
                   const Hints& hints = {});

/// Plans the report's question again, for instance with what was measured: plan, serve line and findings are new.
void plan_again(Report& report);

}  // namespace kvfit::cli
