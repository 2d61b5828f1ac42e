// NVML, opened at run time: what the driver knows about its GPUs without taking anything from them.
//
// Source: NVML API reference, docs.nvidia.com/deploy/nvml-api.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/gpu.h"
#include "profiles/units.h"

namespace kvfit::runtime {

using profiles::Bytes;

struct NvmlDevice {
  std::string name, uuid, pci_bus_id;  ///< the id as pci_id() writes it
  hardware::Capability capability;     ///< 0.0 when not supported
  Bytes total;                         ///< 0 when not supported (unified memory)
  std::optional<Bytes> used;           ///< by programs; the driver's own reserve left out where NVML can tell
  bool mig = false;                    ///< cut into slices: these figures are the whole GPU's
};

class Nvml {
 public:
  /// nullptr and a reason when the library is not there or does not start.
  static std::unique_ptr<Nvml> open(std::string& why);
  virtual ~Nvml() = default;

  virtual std::string driver_version() const = 0;       ///< "580.95.05"; "" when not known
  virtual std::vector<NvmlDevice> devices() const = 0;  ///< in PCI order; what fails to answer is left out
  /// Bytes in use on the device of that PCI id; nullopt when NVML cannot tell.
  virtual std::optional<Bytes> used(std::string_view pci_bus_id) const = 0;
};

}  // namespace kvfit::runtime
