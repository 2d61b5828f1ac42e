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

/// Total bytes CUDA reports for one GPU of this node under its system.
ByteRange total_memory(const Node& node);

/// Bytes free at engine start: total - context - hidden - idle - used elsewhere (unified memory: what the OS leaves).
ByteRange free_at_start(const Node& node);

}  // namespace kvfit::hardware
