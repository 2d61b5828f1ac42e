// Which profile is the GPU a driver reports? Names alone do not tell: the 5060 Ti has 8 or 16 GB, two GB300 share a name.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "hardware/gpu.h"

namespace kvfit::hardware {

/// What NVML, nvidia-smi or the CUDA driver say about one device.
struct DetectedGpu {
  std::string name;       ///< "NVIDIA GeForce RTX 5090 Laptop GPU", never the cut name of nvidia-smi's table
  Bytes total;            ///< NVML memory.total; 0 when not supported (unified memory)
  Capability capability;  ///< 0.0 when not read
  bool unified = false;   ///< CUDA's INTEGRATED attribute
};

enum class MatchKind {
  exact,      ///< name, and total within 1 % (unified memory: name; its NVML total means nothing)
  name_only,  ///< the name, but another total or none
  similar,    ///< another name, same capability, total within 1 %
  none,
};

struct GpuMatch {
  MatchKind kind = MatchKind::none;
  std::optional<Gpu> gpu;  ///< none only when nothing is near
  std::string remark;      ///< what to be careful about; empty when exact
};

/// Names compare without regard to case; a MIG slice ("... MIG 1g.10gb") matches its parent by name only.
GpuMatch match_gpu(std::span<const Gpu> gpus, const DetectedGpu& detected);

}  // namespace kvfit::hardware
