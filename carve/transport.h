// Moves an output shard's bytes from the source. Two ways, one result: where the file system can share extents (FICLONERANGE
// on xfs, btrfs), runs at the same place within a 4096-byte block are shared and only their edges copied; elsewhere threads
// fill pieces of the output, each with a few reads and one write, and hash the tensors as they pass.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "carve/copy_buffers.h"
#include "carve/expert_table.h"
#include "carve/file_writer.h"
#include "carve/output_shard.h"
#include "carve/tensor_hash.h"

namespace kvfit::carve {

struct TransportOptions {
  bool share = false;                               ///< what can_share() found out
  bool direct = false;                              ///< copies go around the page cache; the buffers are made for it
  const ExpertTables* tables = nullptr;             ///< of the blocks that runs name
  std::function<void(std::int64_t)> progress = {};  ///< bytes since the last call; one thread at a time; may throw to stop
};

struct Written {
  std::vector<TensorHash> hashes;  ///< in the order of the file; empty when bytes were shared or a table was rewritten
  bool direct_refused = false;     ///< the file system refuses `direct`; the page cache was used
};

/// Writes head and runs into `file`, which is new and empty. Throws Error(Fault::environment), or what `progress` threw.
Written write_shard(const OutputShard& shard, const Source& source, NewFile& file, const CopyBuffers& buffers,
                    const TransportOptions& options);

/// Whether files in `directory` can share extents with `source`; tries it with a scratch file there.
bool can_share(const std::string& source, const std::string& directory);

/// Bytes of a shard that cannot be shared and must be written.
std::int64_t bytes_to_write(const OutputShard& shard, bool share);

}  // namespace kvfit::carve
