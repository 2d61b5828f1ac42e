// A carve planned whole: what stays, every output file with its size, every text that changes. Writing it is run.h's
// business.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "carve/expert_table.h"
#include "carve/record.h"
#include "carve/request.h"
#include "carve/side_files.h"

namespace kvfit::carve {

/// One weights file of the output; its header and runs are planned again when it is written, so that a plan stays small.
struct OutputFile {
  std::int32_t shard = 0;  ///< of the source
  std::string name;
  std::int64_t bytes = 0, head_bytes = 0, tensors = 0, elements = 0;
  std::int64_t shareable_bytes = 0;  ///< of these, where the file system shares extents
};

struct CarvePlan {
  Request request;
  Checkpoint checkpoint;
  Record record;
  Rewriting rewriting;
  ExpertTables tables;
  std::vector<std::string> names;   ///< by source shard; "" = nothing survives
  std::vector<OutputFile> outputs;  ///< in the order of the source's shards
  std::vector<SideFile> sides;
  std::int64_t score_bytes_read = 0;  ///< 0 when the record was at hand
  std::int64_t plain_bytes_read = 0;  ///< of these, plain weights of blocks without scales
  std::vector<std::string> findings;

  std::int64_t bytes_in() const;
  std::int64_t bytes_out() const;     ///< weights files
  std::int64_t tensor_bytes() const;  ///< without headers
  std::int64_t elements() const;
  OutputShard shard(const OutputFile& file) const;
  std::string index() const;  ///< text of model.safetensors.index.json
};

/// Everything after the choice.
CarvePlan plan_carve(Request request, Checkpoint checkpoint, Record record);

/// Scores, chooses, plans. `version` is kvfit's.
CarvePlan plan_carve(Request request, std::string_view version,
                     const std::function<void(std::int64_t)>& score_progress = {});

/// The largest count that obeys the hard rules of check_keep() at `step` and whose tensor bytes are at most `bytes`; 0 when
/// none does.
std::int64_t largest_keep(const Checkpoint& checkpoint, std::int64_t bytes, std::int64_t step);

/// carve_manifest.json. `digests`: SHA-256 of each output's whole file, or empty.
profiles::Json manifest(const CarvePlan& plan, std::string_view version, const std::vector<std::string>& digests,
                        const std::string& timestamp);

}  // namespace kvfit::carve
