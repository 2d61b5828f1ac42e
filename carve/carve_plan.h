// A carve planned whole: what stays, every output file with its size, every text that changes. Writing it is run.h's
// business.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "carve/expert_table.h"
#include "carve/output_files.h"
#include "carve/record.h"
#include "carve/request.h"
#include "carve/side_files.h"
#include "carve/tensor_hash.h"

namespace kvfit::carve {

struct CarvePlan {
  Request request;
  Checkpoint checkpoint;
  Record record;
  Rewriting rewriting;
  ExpertTables tables;
  std::vector<OutputFile> outputs;  ///< in the order of the source's shards
  std::vector<SideFile> sides;
  std::int64_t score_bytes_read = 0;  ///< 0 when the record was at hand
  std::int64_t plain_bytes_read = 0;  ///< of these, plain weights of blocks without scales
  std::vector<std::string> findings;

  std::int64_t bytes_in() const;
  std::int64_t bytes_out() const;     ///< weights files
  std::int64_t tensor_bytes() const;  ///< without headers
  std::int64_t elements() const;
  Survivors survivors() const;
  OutputShard shard(const OutputFile& file) const;
  std::vector<TextFile> texts() const;  ///< every text file that is rewritten, with the index when there is one
  std::string index() const;            ///< model.safetensors.index.json
};

/// Everything after the choice.
CarvePlan plan_carve(Request request, Checkpoint checkpoint, Record record);

/// Scores, chooses, plans. `version` is kvfit's.
CarvePlan plan_carve(Request request, std::string_view version,
                     const std::function<void(std::int64_t)>& score_progress = {});

/// The largest count that obeys the hard rules of check_keep() at `step` and whose tensor bytes are at most `bytes`; 0 when
/// none does.
std::int64_t largest_keep(const Checkpoint& checkpoint, std::int64_t bytes, std::int64_t step);

/// What is known of an output's bytes.
struct Digests {
  std::string sha256;               ///< of the whole file; "" = not asked for
  std::vector<TensorHash> tensors;  ///< in the order of the file; empty = not known
};

/// carve_manifest.json. `digests`: one an output.
profiles::Json manifest(const CarvePlan& plan, std::string_view version, const std::vector<Digests>& digests,
                        const std::string& timestamp);

}  // namespace kvfit::carve
