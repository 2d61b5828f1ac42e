// kvfit's kernels on a device: fill, verify, hash, and the product with one NVFP4 matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/cuda_session.h"
#include "runtime/kernel_math.h"

namespace kvfit::runtime {

inline constexpr std::size_t kResultWords = 3;                               ///< of a block: sum, mismatches, first
inline constexpr std::size_t kResultBytes = kMostBlocks * kResultWords * 8;  ///< device memory that CudaKernels keeps

/// What was found when a filled region was read back.
struct Verified {
  std::uint64_t sum = 0;         ///< of all words, wrapping
  std::uint64_t mismatches = 0;  ///< words that are not what was written
  std::uint64_t first = 0;       ///< index of the first such word, when there is one
};

class CudaKernels {
 public:
  /// The driver compiles the kernels. Throws Error(Fault::environment) with the compiler's own words.
  explicit CudaKernels(CudaSession& session);
  CudaKernels(const CudaKernels&) = delete;
  CudaKernels& operator=(const CudaKernels&) = delete;
  ~CudaKernels();

  /// False when not even the few KiB for results could be had.
  bool ready() const { return !results_.empty(); }

  /// Words [from, from + words) of a region get the pattern that starts at `first` with word 0. Only queued. `words` is
  /// even.
  void fill(CudaStream& stream, cuda::DevicePointer region, std::uint64_t from, std::uint64_t words, std::uint64_t first);

  void clear_results();  ///< before the first verify or hash of a region
  void verify(CudaStream& stream, cuda::DevicePointer region, std::uint64_t from, std::uint64_t words, std::uint64_t first);
  Verified verified(CudaStream& stream);  ///< waits

  /// Adds the hash of `words` words at `region`, which are words [base, ...) of what is hashed, to the results.
  void hash(CudaStream& stream, cuda::DevicePointer region, std::uint64_t words, std::uint64_t base);
  std::uint64_t hashed(CudaStream& stream);  ///< waits

  void gemv_nvfp4(CudaStream& stream, cuda::DevicePointer weights, cuda::DevicePointer scales, cuda::DevicePointer inputs,
                  cuda::DevicePointer outputs, std::uint32_t rows, std::uint32_t columns, float global);

 private:
  cuda::Function function(const char* name) const;
  void launch(CudaStream& stream, cuda::Function function, unsigned blocks, void** arguments);

  CudaSession& session_;
  cuda::Module module_ = nullptr;
  cuda::Function fill_ = nullptr, verify_ = nullptr, hash_ = nullptr, gemv_ = nullptr;
  DeviceMemory results_;
};

}  // namespace kvfit::runtime
