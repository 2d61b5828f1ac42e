// What a carve chose, as JSON: the heart of carve_manifest.json, of a resumable directory's state.json and of a job.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "carve/request.h"
#include "profiles/document.h"
#include "profiles/json.h"

namespace kvfit::carve {

/// The choice with what it was made by: enough to carve again without scoring.
struct Record {
  std::string request_digest;  ///< of everything the choice depends on (digest_of)
  Kept kept;
  std::vector<std::vector<double>> scores;  ///< by block and expert
  std::string basis;                        ///< of the weight factor, trunk
  profiles::Json blocks;                    ///< "blocks" of the manifest
};

/// SHA-256 over kvfit's version, every option, the identity and header of every source file, and config.json.
std::string digest_of(const Checkpoint& checkpoint, const Request& request, std::string_view version);

Record make_record(const Checkpoint& checkpoint, const Selection& selection, std::string digest);

profiles::Json to_json(const Record& record);
/// "blocks" of a record as JSON again, checked for its form only.
profiles::Json blocks_json(const profiles::Node& blocks);
/// Error (Fault::input) when it is not a record of this layout.
Record read_record(const profiles::Node& node, const Layout& layout);

}  // namespace kvfit::carve
