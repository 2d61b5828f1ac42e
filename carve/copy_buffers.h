// The memory that copying goes through: one buffer a thread, made once for all files, so that a run's memory does not grow
// with the checkpoint. With --memory the program as a whole stays below a cap: fewer and smaller buffers, at last an Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kvfit::carve {

struct BufferOptions {
  int threads = 0;          ///< 0 = as the machine has, 2 to 4
  std::int64_t memory = 0;  ///< most bytes resident, the program included; 0 = about 60 MiB, but never too little to copy
  bool direct = false;      ///< each thread also needs a buffer for reading whole blocks
};

class CopyBuffers {
 public:
  /// Error (Fault::input) when the cap is below what the program has needed so far and the least buffers.
  explicit CopyBuffers(const BufferOptions& options);

  int threads() const { return static_cast<int>(buffers_.size()); }
  std::int64_t piece_bytes() const { return piece_; }  ///< a multiple of kDirectBlock (carve/file_writer.h)
  std::span<char> piece(int thread) const;
  std::span<char> blocks(int thread) const;  ///< of the same size; empty unless direct

 private:
  struct Free {
    void operator()(char* bytes) const;
  };
  std::int64_t piece_ = 0;
  bool direct_ = false;
  std::vector<std::unique_ptr<char[], Free>> buffers_;
};

/// Error as above before any work is done: what scoring and checking need counts too.
void check_memory(const BufferOptions& options);

/// The most bytes this process has had resident; 0 where the system does not say.
std::int64_t peak_resident_bytes();

}  // namespace kvfit::carve
