// The CUDA driver, opened at run time: libcuda.so.1, then WSL's own path. Never "libcuda.so": that name comes with the
// toolkit, not with the driver.
#pragma once

#include <string>
#include <string_view>

#include "runtime/cuda_abi.h"
#include "runtime/dynamic_library.h"

namespace kvfit::runtime {

class CudaDriver {
 public:
  /// Opens and initialises it. Throws Error(Fault::environment) that tells apart: no driver, a stub on the library path,
  /// no GPU, and every other state driver_faults.h knows; each with its remedy.
  CudaDriver();

  const cuda::Functions& call() const { return functions_; }
  int version() const { return version_; }  ///< of the API: 13000 is CUDA 13.0
  const std::string& library() const { return library_.name(); }

  /// Throws Error(Fault::environment) unless `result` is success; `call` is the entry point, e.g. "cuMemAlloc_v2".
  void check(cuda::Result result, std::string_view call) const;

 private:
  DynamicLibrary library_;
  cuda::Functions functions_{};
  int version_ = 0;
};

/// "13.0" for 13000.
std::string cuda_version_text(int version);

}  // namespace kvfit::runtime
