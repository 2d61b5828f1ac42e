// One GPU as the CUDA driver describes it, without a context: nothing is taken from the device by asking.
#pragma once

#include <string>
#include <vector>

#include "hardware/gpu.h"
#include "runtime/cuda_driver.h"

namespace kvfit::runtime {

using profiles::Bytes;

struct CudaDevice {
  cuda::DeviceHandle handle = 0;
  int ordinal = 0;         ///< CUDA's own order: fastest first unless CUDA_DEVICE_ORDER=PCI_BUS_ID
  std::string name;        ///< "NVIDIA GeForce RTX 5090 Laptop GPU"
  std::string uuid;        ///< "GPU-..." or, of a slice, "MIG-..."
  std::string pci_bus_id;  ///< normalised, see pci_id()
  Bytes total;
  hardware::Capability capability;
  int sm_count = 0;
  Bytes shared_memory_optin;  ///< of one block
  bool unified = false;       ///< CPU and GPU share one memory
  bool watchdog = false;      ///< kernels that run for seconds are ended
  bool ecc = false;
  bool mps = false;  ///< served by MPS: its memory limit shows only when an allocation fails
  bool mig = false;  ///< a slice of a GPU: CUDA's figures are the slice's, NVML's are the whole GPU's
};

/// In CUDA's order. Throws Error(Fault::environment); "no GPU" when there is none.
std::vector<CudaDevice> cuda_devices(const CudaDriver& driver);

/// One form for NVML's "00000000:01:00.0", CUDA's "0000:01:00.0" and upper-case digits: "0000:01:00.0".
std::string pci_id(std::string_view text);

}  // namespace kvfit::runtime
