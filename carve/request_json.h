// A request as JSON, for manifests and jobs.
#pragma once

#include "carve/request.h"
#include "profiles/document.h"
#include "profiles/json.h"

namespace kvfit::carve {

std::string_view draft_name(DraftMode mode);
/// "carve", "drop" or "keep"; Error otherwise.
DraftMode parse_draft(std::string_view name);

/// A list of numbers, for all blocks, or a map of lists by block.
ExpertIds read_ids(const profiles::Node& node);

/// All options but the source's path.
profiles::Json to_json(const Request& request);
/// Error (Fault::input) with the place of what is wrong.
Request read_request(const profiles::Node& node, std::string source);

}  // namespace kvfit::carve
