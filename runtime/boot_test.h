// The boot test: a plan's entries allocated on the device at hand, every page written and read back by kernels, held, and
// released. No engine is needed; what it shows is that the memory is there, keeps what is written, and is as fast as it
// should be. Under WSL2 and Windows an allocation alone proves nothing, which is why every page is written.
//
// Kernels run for far less than the two seconds of a display's watchdog; no managed memory is used.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/boot_plan.h"
#include "runtime/cuda_device.h"
#include "runtime/cuda_driver.h"

namespace kvfit::runtime {

struct BootOptions {
  std::optional<Bytes> limit;             ///< allocate no more than this
  std::optional<Bytes> memory_available;  ///< of the host; unified memory is never filled beyond it
  double hold_seconds = 0;                ///< everything stays allocated for so long
};

enum class EntryState {
  held,     ///< allocated, written, read back
  damaged,  ///< read back differently
  refused,  ///< the device had no memory for it
  capped,   ///< beyond the limit: tried as far as it goes, or not at all
  untried,  ///< not tried: an entry before it failed
};

struct MeasuredEntry {
  BootEntry entry;
  EntryState state = EntryState::untried;
  Bytes obtained;                        ///< how much of it was held, or could be had
  std::uint64_t mismatches = 0;          ///< words of 8 bytes
  Bytes first_bad;                       ///< offset of the first
  double write_rate = 0, read_rate = 0;  ///< bytes per second; 0 = too small to time
};

struct BootMeasurement {
  CudaDevice device;
  Bytes total, free_at_start;  ///< its own context included
  Bytes free_when_full, free_at_end;
  std::optional<Bytes> cap;  ///< what bounded the test, and why
  std::string cap_reason;    ///< "--limit", "MemAvailable"
  std::vector<MeasuredEntry> entries;
  Bytes held;                            ///< sum of what was allocated at once
  double write_rate = 0, read_rate = 0;  ///< bytes per second over everything; 0 = too little to time
  double slowest_write = 0;              ///< of a piece of at most 1 GiB that took long enough to tell; 0 = none
  double held_seconds = 0;
};

/// "allocating", "verifying" ... with the bytes done and to do; called before each piece of work.
using BootProgress = std::function<void(std::string_view what, Bytes done, Bytes all)>;

/// Throws Error(Fault::environment) when the driver fails; that there is no memory is a result. All that was taken is given
/// back either way.
BootMeasurement run_boot_test(const CudaDriver& driver, const CudaDevice& device, const BootPlan& plan,
                              const BootOptions& options, const BootProgress& progress);

}  // namespace kvfit::runtime
