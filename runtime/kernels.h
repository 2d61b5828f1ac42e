// The text of runtime/kernels.ptx, compiled in.
#pragma once

namespace kvfit::runtime {

/// Ends with a zero byte, as the driver's compiler wants it.
const char* kernels_ptx();

}  // namespace kvfit::runtime
