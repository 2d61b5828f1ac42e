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

/// A value with where it came from. `sourced` false = well known but no source was read: its range carries the doubt.
/// `derived` = worked out from other readings by the rule that `source` states.
template <typename T>
struct Fact {
  T value{};
  bool sourced = false;
  bool derived = false;
  std::string source;
};

enum class System { linux_native, wsl2 };

/// Bytes between the smallest and the largest reading; `likely` is what plans use.
struct ByteRange {
  Bytes low, likely, high;
};

/// Shares of the total, 0 to 1.
struct RatioRange {
  double low = 0, likely = 0, high = 0;
};

struct Gpu {
  std::string id;                         ///< profile id, e.g. "rtx5090-24g"
  std::string name;                       ///< for people, e.g. "GeForce RTX 5090 Laptop GPU (24 GB)"
  std::vector<std::string> driver_names;  ///< exact strings NVML / CUDA report
  std::vector<std::string> aliases;
  std::string as_of;  ///< "2026-11-30": when the facts were collected
  Capability capability;
  std::string platform = "cuda";  ///< what an engine was built for: "cuda", "rocm" or "xpu"
  bool unified = false;           ///< the CUDA INTEGRATED attribute: CPU and GPU share one memory (GB10, Thor)

  std::optional<Fact<Bytes>> nvml_total;           ///< nvidia-smi memory.total
  Fact<ByteRange> cuda_total_linux;                ///< cudaMemGetInfo total on native Linux
  std::optional<Fact<ByteRange>> cuda_total_wsl2;  ///< the same under WSL2 / Windows; absent where it does not run
  Fact<ByteRange> context;  ///< CUDA context and modules of one process before its first allocation; 0 when unified
  std::optional<Fact<ByteRange>> wsl2_hidden;  ///< under WSL2: total - free at engine start, context included
  Fact<ByteRange> idle;  ///< Linux: used by an idle machine (headless); unified: total - free at engine start
  std::optional<Fact<RatioRange>> utilisation;  ///< unified only: what is safe to request of the shared memory

  Fact<int> sm_count;               ///< 0 = not known
  Fact<Bytes> shared_memory_optin;  ///< largest dynamic shared memory of one block
  Fact<Bytes> l2;                   ///< 0 = not known
  Fact<double> bandwidth;           ///< bytes per second, memory; 0 = not known
  Fact<double> nvlink;              ///< bytes per second one way; 0 = none
  Fact<double> pcie;                ///< bytes per second one way; 0 = none or not known
  Fact<double> power;               ///< watts; 0 = not known
  std::vector<std::string> notes;
};

/// Reads "12.0"; throws with the place.
Capability parse_capability(const profiles::Node& node);

/// Reads one profile; profiles/hardware/README.md says what it holds. Throws profiles::Error with file:line:column on
/// unknown keys, a value without source, absurd values and values that contradict each other.
Gpu read_gpu(const profiles::Node& profile);

}  // namespace kvfit::hardware
