// What `nvidia-smi --query-gpu=... --format=csv` printed, on this machine or on another whose output was saved.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/nvml.h"

namespace kvfit::runtime {

/// The query kvfit asks, and the one to save on a machine elsewhere:
///   nvidia-smi --query-gpu=uuid,pci.bus_id,name,compute_cap,memory.total,memory.used,driver_version,mig.mode.current
///              --format=csv
std::string_view smi_query();
/// The arguments of nvidia-smi for it.
std::vector<std::string> smi_arguments();

struct SmiReading {
  std::vector<NvmlDevice> devices;
  std::string driver_version;
};

/// Reads CSV with a header row, in any order of columns; units may be printed or not (`nounits`). Columns that are not known
/// are passed over; "[N/A]" and "[Not Supported]" mean not known. Throws Error with the place when there is no `name`
/// column, no device, or a number that is none. The table that nvidia-smi prints by default is refused: it cuts names short.
SmiReading read_smi(std::string_view text, const std::string& file);

}  // namespace kvfit::runtime
