// Reads bytes of source files from several threads, through the page cache or around it (O_DIRECT).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "carve/file_writer.h"
#include "carve/output_shard.h"
#include "carve/source.h"

namespace kvfit::carve {

class SourceReader {
 public:
  /// Opens the files that `runs` read. With `direct` reads go around the page cache, until a file system refuses.
  SourceReader(const Source& source, const std::vector<Run>& runs, bool direct);

  /// Fills `out` from `offset` of a source file. `blocks` is room for whole blocks, aligned to one; used by direct reads
  /// only.
  void read(std::int32_t shard, std::int64_t offset, std::span<char> out, std::span<char> blocks) const;
  int descriptor(std::int32_t shard) const { return files_.at(shard).cached.get(); }
  bool refused() const { return refused_; }  ///< direct reads were asked for and cannot be had

 private:
  struct File {
    std::string path;
    Descriptor cached, direct;
  };
  static void read_cached(const File& file, std::int64_t offset, std::span<char> out);

  std::map<std::int32_t, File> files_;
  mutable std::atomic<bool> refused_ = false;
};

}  // namespace kvfit::carve
