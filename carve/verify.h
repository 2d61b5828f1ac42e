// Compares a carved checkpoint with what a plan says it must be: always the headers, sizes and texts, on request every byte.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "carve/carve_plan.h"

namespace kvfit::carve {

/// What differs, one sentence each; empty when nothing does. `full` reads all of the source's kept bytes and the output.
/// `progress` gets bytes compared and may throw to stop.
std::vector<std::string> verify_files(const CarvePlan& plan, const std::string& directory, bool full,
                                      const std::function<void(std::int64_t)>& progress);

/// The same for a finished carve: kept experts and options come from its carve_manifest.json. Error when there is none, or
/// it was made from another source.
std::vector<std::string> verify_carve(const std::string& source, const std::string& destination, bool full,
                                      const std::function<void(std::int64_t)>& progress);

}  // namespace kvfit::carve
