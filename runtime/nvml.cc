#include "runtime/nvml.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiles/text.h"
#include "runtime/cuda_device.h"
#include "runtime/dynamic_library.h"
#include "runtime/nvml_abi.h"

namespace kvfit::runtime {
namespace {

using profiles::format;

constexpr std::array kLibraries = {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"};

using nvml::Handle;
using nvml::kMemoryV2;
using nvml::kSuccess;
using nvml::Memory;
using nvml::MemoryV2;
using nvml::PciInfo;
using nvml::Return;

struct Functions {
  Return (*init)();
  Return (*shutdown)();
  const char* (*error_string)(Return);
  Return (*driver_version)(char*, unsigned);
  Return (*count)(unsigned*);
  Return (*by_index)(unsigned, Handle*);
  Return (*name)(Handle, char*, unsigned);
  Return (*uuid)(Handle, char*, unsigned);
  Return (*pci)(Handle, PciInfo*);
  Return (*memory)(Handle, Memory*);
  Return (*memory_v2)(Handle, MemoryV2*);  ///< absent in drivers before r510
  Return (*capability)(Handle, int*, int*);
  Return (*mig_mode)(Handle, unsigned*, unsigned*);  ///< absent in drivers before r450
};

bool resolve(const DynamicLibrary& library, Functions& f) {
  library.resolve(f.memory_v2, "nvmlDeviceGetMemoryInfo_v2");
  library.resolve(f.mig_mode, "nvmlDeviceGetMigMode");
  return library.resolve(f.init, "nvmlInit_v2") && library.resolve(f.shutdown, "nvmlShutdown") &&
         library.resolve(f.error_string, "nvmlErrorString") &&
         library.resolve(f.driver_version, "nvmlSystemGetDriverVersion") &&
         library.resolve(f.count, "nvmlDeviceGetCount_v2") && library.resolve(f.by_index, "nvmlDeviceGetHandleByIndex_v2") &&
         library.resolve(f.name, "nvmlDeviceGetName") && library.resolve(f.uuid, "nvmlDeviceGetUUID") &&
         library.resolve(f.pci, "nvmlDeviceGetPciInfo_v3") && library.resolve(f.memory, "nvmlDeviceGetMemoryInfo") &&
         library.resolve(f.capability, "nvmlDeviceGetCudaComputeCapability");
}

Bytes bytes_of(unsigned long long count) { return Bytes(static_cast<std::int64_t>(count)); }

class LoadedNvml : public Nvml {
 public:
  LoadedNvml(std::unique_ptr<DynamicLibrary> library, const Functions& functions)
      : library_(std::move(library)), f_(functions) {}
  LoadedNvml(const LoadedNvml&) = delete;
  LoadedNvml& operator=(const LoadedNvml&) = delete;
  ~LoadedNvml() override { f_.shutdown(); }

  std::string driver_version() const override {
    std::array<char, 96> text{};
    return f_.driver_version(text.data(), static_cast<unsigned>(text.size())) == kSuccess ? text.data() : "";
  }

  std::vector<NvmlDevice> devices() const override {
    std::vector<NvmlDevice> out;
    for (const Handle handle : handles()) {
      NvmlDevice device;
      if (describe(handle, device)) out.push_back(std::move(device));
    }
    return out;
  }

  std::optional<Bytes> used(std::string_view pci_bus_id) const override {
    for (const Handle handle : handles()) {
      PciInfo info{};
      if (f_.pci(handle, &info) == kSuccess && pci_id(info.id) == pci_bus_id) return memory_of(handle).second;
    }
    return std::nullopt;
  }

 private:
  std::vector<Handle> handles() const {
    std::vector<Handle> out;
    unsigned count = 0;
    if (f_.count(&count) != kSuccess) return out;
    for (unsigned i = 0; i < count; ++i) {
      Handle handle = nullptr;
      if (f_.by_index(i, &handle) == kSuccess) out.push_back(handle);
    }
    return out;
  }

  // Total and what programs use. The first form of the call counts the driver's reserve as used.
  std::pair<Bytes, std::optional<Bytes>> memory_of(Handle handle) const {
    MemoryV2 newer{.version = kMemoryV2};
    if (f_.memory_v2 != nullptr && f_.memory_v2(handle, &newer) == kSuccess) {
      return {bytes_of(newer.total), bytes_of(newer.used)};
    }
    Memory older{};
    if (f_.memory(handle, &older) == kSuccess) return {bytes_of(older.total), bytes_of(older.used)};
    return {Bytes(0), std::nullopt};
  }

  bool describe(Handle handle, NvmlDevice& out) const {
    std::array<char, 96> text{};
    if (f_.name(handle, text.data(), static_cast<unsigned>(text.size())) != kSuccess) return false;
    out.name = text.data();
    text = {};
    if (f_.uuid(handle, text.data(), static_cast<unsigned>(text.size())) == kSuccess) out.uuid = text.data();
    PciInfo info{};
    if (f_.pci(handle, &info) == kSuccess) out.pci_bus_id = pci_id(info.id);
    f_.capability(handle, &out.capability.major, &out.capability.minor);
    const std::pair<Bytes, std::optional<Bytes>> memory = memory_of(handle);
    out.total = memory.first;
    out.used = memory.second;
    unsigned current = 0, pending = 0;
    out.mig = f_.mig_mode != nullptr && f_.mig_mode(handle, &current, &pending) == kSuccess && current == 1;
    return true;
  }

  std::unique_ptr<DynamicLibrary> library_;
  Functions f_;
};

}  // namespace

std::unique_ptr<Nvml> Nvml::open(std::string& why) {
  std::unique_ptr<DynamicLibrary> library = std::make_unique<DynamicLibrary>(kLibraries);
  Functions functions{};
  if (!library->loaded()) {
    why = "libnvidia-ml.so.1 is not there";
    return nullptr;
  }
  if (!resolve(*library, functions)) {
    why = format("{} is too old", library->name());
    return nullptr;
  }
  if (const Return result = functions.init(); result != kSuccess) {
    const char* text = functions.error_string(result);
    why = format("NVML does not start: {} ({})", text == nullptr ? "no words for it" : text, result);
    return nullptr;
  }
  return std::make_unique<LoadedNvml>(std::move(library), functions);
}

}  // namespace kvfit::runtime
