// What a reader should act on, under ids that stay: KVF001 ... A finding names the smallest remedy it knows.
#pragma once

#include <string>
#include <vector>

#include "cli/report.h"

namespace kvfit::cli {

/// Of a finished report (plan and question), worst first.
///   KVF001  does not fit                      KVF008  utilisation above what stays safe under load
///   KVF002  fits, but within the error bar    KVF009  expert kernels that cannot take the model's NVFP4
///   KVF003  refused format                    KVF034  headers and config disagree
std::vector<planner::Finding> findings_of(const Report& report);

/// The least that must be given up: the lever that alone reaches a fit and frees no more than it must; "" when there are
/// none.
std::string remedy(const planner::Plan& plan);

/// A sentence on headers that differ from the config beside them; "" where they agree or none are at hand.
std::string checkpoint_disagrees(const Report& report);

/// The check of memory with the least headroom; nullptr when there is none.
const planner::Check* least_headroom(const planner::Plan& plan);

/// What to say when that headroom is below `margin`; "" when it is not.
std::string margin_shortfall(const planner::Plan& plan, profiles::Bytes margin);

/// Sentences on what the plan took for granted: facts without a source, and what the model's config leaves open.
std::vector<std::string> taken_for_granted(const Report& report);

}  // namespace kvfit::cli
