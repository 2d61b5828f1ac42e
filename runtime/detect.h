// Which GPUs are in this machine: NVML first, because it takes nothing from the device; joined with what the CUDA driver
// says, by UUID or PCI id and never by index, since the two count in different orders. Where neither library is there,
// nvidia-smi is asked; for a machine elsewhere, its saved output is read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hardware/match.h"
#include "hardware/node.h"
#include "runtime/cuda_device.h"
#include "runtime/nvml.h"

namespace kvfit::runtime {

struct FoundGpu {
  std::string name;  ///< CUDA's where it was asked: a slice has its own
  std::string uuid, pci_bus_id;
  hardware::Capability capability;
  std::optional<NvmlDevice> nvml;  ///< what NVML or nvidia-smi say; of a slice, about the whole GPU
  std::optional<CudaDevice> cuda;  ///< what the driver says
};

struct Detection {
  std::vector<FoundGpu> gpus;              ///< in PCI order
  std::string source;                      ///< "NVML and CUDA", "NVML", "CUDA", "nvidia-smi", or the file's path
  std::string driver_version;              ///< "580.95.05"; may be empty
  int cuda_version = 0;                    ///< 13000; 0 = not asked
  std::optional<hardware::System> system;  ///< of this machine; absent for a machine elsewhere
  std::vector<std::string> remarks;        ///< what could not be asked and why
};

/// Of this machine. Throws the driver's Error when nothing answers.
Detection detect_gpus();
/// Of a saved query of nvidia-smi.
Detection gpus_in_smi_file(const std::string& path);
/// The same for its text; `file` names it in messages.
Detection gpus_in_smi_text(const std::string& text, const std::string& file);

/// Joins both lists; CUDA devices that NVML does not know and the reverse are kept.
std::vector<FoundGpu> join_devices(const std::vector<NvmlDevice>& nvml, const std::vector<CudaDevice>& cuda);

/// For hardware::match_gpu.
hardware::DetectedGpu as_detected(const FoundGpu& gpu);

/// Sets the machine's total to what CUDA says of this GPU, where it was asked: then nothing of it is assumed.
void use_total(hardware::Node& node, const FoundGpu& gpu);

/// A fact of the profile beside what was found.
struct Difference {
  std::string key;   ///< "cuda_total", "nvml_total", "capability", "sm_count", "shared_memory_optin", "unified", "in_use"
  std::string text;  ///< for people
  std::string profile, found;
  bool differs = false;
};
/// Everything that both know, in the order of the profile; `system` chooses between the two totals.
std::vector<Difference> compare_with_profile(const FoundGpu& found, const hardware::Gpu& profile, hardware::System system);

}  // namespace kvfit::runtime
