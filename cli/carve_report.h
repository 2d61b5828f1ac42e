// What `kvfit carve` shows: a checkpoint's blocks, a planned carve, two scores side by side.
#pragma once

#include <string>
#include <vector>

#include "carve/carve_plan.h"
#include "carve/verify.h"
#include "cli/listing.h"

namespace kvfit::cli {

Listing inspect_listing(const carve::Checkpoint& checkpoint);

/// `remark`: what engines do with the count.
Listing plan_listing(const carve::CarvePlan& plan, const std::string& remark);

/// How far two choices agree: Jaccard overlap of the kept sets and rank correlation of the scores, block by block.
Listing compare_listing(const carve::Checkpoint& checkpoint, const carve::Selection& a, const carve::Selection& b,
                        const std::string& name_a, const std::string& name_b);

Listing verify_listing(const carve::VerifyReport& report, bool alone, bool full);

}  // namespace kvfit::cli
