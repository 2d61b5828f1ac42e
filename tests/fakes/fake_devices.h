// GPUs that are not there: what both fake libraries say about them, and the settings a test gives them by environment.
//
//   KVFIT_FAKE_GPUS         names of the table, separated by commas; default rtx5090-laptop; "none" = a driver without a GPU
//   KVFIT_FAKE_USED_MIB     taken on every GPU by others
//   KVFIT_FAKE_LIMIT_MIB    an MPS limit: allocations beyond it fail although more is free
//   KVFIT_FAKE_SPILL_MIB    as WSL2 and Windows do: allocations beyond it succeed, in slow host memory, and beyond the total
//   too KVFIT_FAKE_UNBACKED_MIB beyond it allocations succeed and do not keep what is written KVFIT_FAKE_FLIP N:OFFSET, a
//   bit that flips in the N-th allocation (from 0) once it was written KVFIT_FAKE_FAIL_AT      the n-th call (from 1) fails
//   ... KVFIT_FAKE_FAIL_CALL    ... counting only calls of this name KVFIT_FAKE_FAIL_WITH    ... with this result; default
//   999 KVFIT_FAKE_SLOWER       all work takes so many times as long KVFIT_FAKE_LATENCY_US   every call takes at least so
//   long KVFIT_FAKE_REPORT       file that gets calls, live resources and the peak when the library is unloaded
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvfit::fakes {

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

struct FakeGpu {
  const char* key;
  const char* name;         ///< CUDA's
  const char* parent_name;  ///< NVML's
  int major, minor;
  std::uint64_t cuda_total, nvml_total;  ///< bytes; NVML's 0 = not supported
  std::uint64_t context;                 ///< bytes
  int sm_count;
  int shared_memory_optin;
  bool unified, mig;
  double bandwidth;  ///< bytes per second that kernels reach
};

/// Those of KVFIT_FAKE_GPUS, in CUDA's order: the order of the setting. Their PCI ids run the other way round, as CUDA's
/// fastest-first order and NVML's PCI order may.
const std::vector<FakeGpu>& fake_gpus();

std::string pci_id_of(std::size_t gpu);                            ///< "0000:01:00.0"
void uuid_of(std::size_t gpu, bool slice, unsigned char out[16]);  ///< of the GPU, or of its slice

std::string setting(const char* name);  ///< "" when not set
std::uint64_t number(const char* name, std::uint64_t fallback);
std::uint64_t mib(const char* name, std::uint64_t fallback_bytes);

/// Counts calls and says which one fails.
class Faults {
 public:
  /// `prefix`: "KVFIT_FAKE" of CUDA, "KVFIT_FAKE_NVML" of NVML.
  explicit Faults(const std::string& prefix);
  /// 0, or the result that this call must return without doing anything.
  int next(const char* call);
  std::uint64_t calls() const { return calls_; }

 private:
  std::uint64_t fail_at_, calls_ = 0, counted_ = 0;
  std::string fail_call_;
  int fail_with_;
};

}  // namespace kvfit::fakes
