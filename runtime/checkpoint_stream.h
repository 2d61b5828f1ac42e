// The real tensors of a checkpoint on the device: file to pinned buffer to device memory, hashed there by a kernel and
// compared with the hash of the file's bytes. Two buffers, so that the disk, the bus and the device work at the same time.
// Then one routed expert's NVFP4 matrix is dequantised and multiplied on the device and on the CPU: same bits, or the carve
// (or the memory) is broken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/checkpoint.h"
#include "runtime/boot_test.h"

namespace kvfit::runtime {

struct StreamedMatrix {
  std::string tensor;  ///< name of the weight
  std::uint32_t rows = 0, columns = 0;
  double largest_difference = 0;  ///< between device and CPU; 0 = the same bits
  double rms = 0;                 ///< of the dequantised weights, by the CPU
  std::uint64_t not_numbers = 0;  ///< scales that stand for NaN, and outputs that are none
};

struct StreamMeasurement {
  Bytes bytes;                           ///< that were streamed
  std::int64_t tensors = 0;              ///< in the files
  double seconds = 0;                    ///< reading, copying and hashing together
  bool resident = true;                  ///< all files were on the device at once; false: one after the other
  std::string damaged_file;              ///< first file whose device hash differs; "" = none
  std::string damaged_tensor;            ///< the first tensor at the place
  Bytes damaged_at;                      ///< offset in that file
  std::optional<MeasuredEntry> refused;  ///< a file that the device had no memory for
  std::optional<StreamedMatrix> matrix;  ///< absent when the checkpoint has no expert in NVFP4
};

inline constexpr std::int64_t kStagingBytes = 16 * profiles::kMiB;  ///< each of two

/// Throws Error when a file cannot be read or the driver fails.
StreamMeasurement stream_checkpoint(const CudaDriver& driver, const CudaDevice& device, const models::Checkpoint& checkpoint,
                                    const BootProgress& progress);

}  // namespace kvfit::runtime
