// What a GPU is, as facts from profiles/hardware/*.yaml. Memory totals are what CUDA reports (cudaMemGetInfo), because that
// is what the engine multiplies by its utilisation; NVML's total is kept for detection only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiles/document.h"
#include "profiles/units.h"

namespace kvfit::hardware {

using profiles::Bytes;

/// Compute capability, e.g. 12.0. Compared as major*10+minor.
struct Capability {
  int major = 0;
  int minor = 0;
  int number() const { return major * 10 + minor; }
  friend auto operator<=>(const Capability&, const Capability&) = default;
};

/// A value with where it came from. `sourced` false = well known but no source was read: it widens error bars.
template <typename T>
struct Fact {
  T value{};
  bool sourced = false;
  std::string source;
};

enum class System { linux_native, wsl2 };

/// Bytes between the smallest and the largest reading; `likely` is what plans use.
struct ByteRange {
  Bytes low, likely, high;
};

struct Gpu {
  std::string id;                         ///< profile id, e.g. "rtx5090-24g"
  std::string name;                       ///< for people, e.g. "GeForce RTX 5090 Laptop GPU (24 GB)"
  std::vector<std::string> driver_names;  ///< exact strings NVML / CUDA report
  std::vector<std::string> aliases;
  Capability capability;
  bool unified = false;  ///< the CUDA INTEGRATED attribute: CPU and GPU share one memory (GB10, Thor)

  std::optional<Fact<Bytes>> nvml_total;  ///< nvidia-smi memory.total
  Fact<ByteRange> cuda_total_linux;       ///< cudaMemGetInfo total on native Linux (derived from NVML where not read)
  Fact<ByteRange> cuda_total_wsl2;        ///< the same under WSL2 / Windows
  Fact<ByteRange> context;                ///< CUDA context and modules of one process before its first allocation
  Fact<ByteRange> wsl2_hidden;            ///< under WSL2: bytes the host keeps, free at start = total - hidden
  Fact<ByteRange> idle;                   ///< used by an idle machine (headless)

  Fact<int> sm_count;
  Fact<Bytes> shared_memory_optin;  ///< largest dynamic shared memory of one block
  Fact<Bytes> l2;
  Fact<double> bandwidth;  ///< bytes per second, memory
  Fact<double> nvlink;     ///< bytes per second one way; 0 = none
  Fact<double> pcie;       ///< bytes per second one way
  Fact<double> power;      ///< watts
  std::vector<std::string> notes;
};

/// Reads one profile; throws profiles::Error with file:line on unknown keys, missing sources or absurd values.
Gpu read_gpu(const profiles::Node& profile);

}  // namespace kvfit::hardware
