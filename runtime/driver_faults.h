// What a result of the CUDA driver means and how to mend it: one row a value, so that no caller guesses.
#pragma once

#include <string_view>

#include "runtime/cuda_abi.h"

namespace kvfit::runtime {

struct DriverFault {
  cuda::Result result = 0;
  std::string_view name;     ///< "CUDA_ERROR_STUB_LIBRARY"
  std::string_view meaning;  ///< a sentence without a full stop
  std::string_view remedy;
};

/// The row of `result`; nullptr when none is kept for it.
const DriverFault* find_fault(cuda::Result result);

}  // namespace kvfit::runtime
