// The machine a deployment runs on: so many of one GPU, how they are linked, and what the system takes.
#pragma once

#include <string>

#include "hardware/gpu.h"

namespace kvfit::hardware {

enum class Link { none, pcie, nvlink, network };

struct Node {
  Gpu gpu;
  int count = 1;
  Link link = Link::none;  ///< between the GPUs of one tensor-parallel group
  System system = System::linux_native;
  Bytes used_elsewhere;       ///< desktop, other processes; on top of the idle use in the profile
  std::string measured_from;  ///< non-empty when totals were detected or calibrated here, with what
};

/// Total bytes CUDA reports for one GPU of this node under its system; the engine multiplies this by its utilisation.
/// Error when the GPU's profile knows no WSL2 figures and the system is WSL2.
ByteRange total_memory(const Node& node);

/// Bytes free when an engine takes its first snapshot, its CUDA context already made:
///   native Linux   total - context - idle - used elsewhere
///   WSL2           total - hidden - used elsewhere            (hidden includes the context and what Windows holds)
///   unified        total - idle - used elsewhere              (idle includes the system, page cache and context)
/// low pairs the smallest total with the largest use. Never below 0.
ByteRange free_at_start(const Node& node);

}  // namespace kvfit::hardware
