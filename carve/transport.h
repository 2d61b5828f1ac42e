// Moves an output shard's bytes from the source file. Two ways, one result: where the file system can share extents
// (FICLONERANGE on xfs, btrfs), runs at the same place within a 4096-byte block are shared and only their edges copied;
// elsewhere threads fill 8 MiB pieces of the output, each with a few reads and one write. Memory does not grow with the
// checkpoint.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "carve/expert_table.h"
#include "carve/file_writer.h"
#include "carve/output_shard.h"

namespace kvfit::carve {

struct TransportOptions {
  int threads = 2;
  bool share = false;                               ///< what can_share() found out
  const ExpertTables* tables = nullptr;             ///< of the blocks that runs name
  std::function<void(std::int64_t)> progress = {};  ///< bytes since the last call; one thread at a time; may throw to stop
};

/// Writes head and runs into `file`, which is new and empty. Throws Error(Fault::environment), or what `progress` threw.
void write_shard(const OutputShard& shard, const std::string& source, const NewFile& file, const TransportOptions& options);

/// Whether files in `directory` can share extents with `source`; tries it with a scratch file there.
bool can_share(const std::string& source, const std::string& directory);

/// Bytes of a shard that cannot be shared and must be written.
std::int64_t bytes_to_write(const OutputShard& shard, bool share);

}  // namespace kvfit::carve
