#include "runtime/detect.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "runtime/child_process.h"
#include "runtime/host_facts.h"
#include "runtime/nvidia_smi.h"

namespace kvfit::runtime {
namespace {

using profiles::format;

constexpr double kSmiSeconds = 30;  // a machine of eight GPUs without persistence mode takes about ten

FoundGpu found(const NvmlDevice& device) {
  return {.name = device.name,
          .uuid = device.uuid,
          .pci_bus_id = device.pci_bus_id,
          .capability = device.capability,
          .nvml = device,
          .cuda = std::nullopt};
}

// Slices have a UUID of their own and the PCI id of their GPU.
bool same_device(const NvmlDevice& a, const CudaDevice& b) {
  if (!a.uuid.empty() && a.uuid == b.uuid) return true;
  return !a.pci_bus_id.empty() && a.pci_bus_id == b.pci_bus_id;
}

void take_cuda(FoundGpu& gpu, const CudaDevice& device) {
  gpu.name = device.name;
  gpu.uuid = device.uuid;
  gpu.pci_bus_id = device.pci_bus_id;
  gpu.capability = device.capability;
  gpu.cuda = device;
}

Detection ask_nvidia_smi(const profiles::Error& driver_error) {
  const Finished finished = run_to_end({.arguments = smi_arguments(), .environment = {}}, kSmiSeconds);
  if (finished.timed_out || finished.status != 0) throw driver_error;
  Detection out = gpus_in_smi_text(finished.output, "the output of nvidia-smi");
  out.source = "nvidia-smi";
  out.system = host_system();
  out.remarks.push_back(driver_error.message());
  return out;
}

std::string total_text(Bytes bytes) { return format("{} MiB", bytes.count / profiles::kMiB); }

class Differences {
 public:
  void add(std::string key, std::string text, std::string profile, std::string found, bool differs) {
    out_.push_back({std::move(key), std::move(text), std::move(profile), std::move(found), differs});
  }
  void total(std::string key, std::string text, const hardware::ByteRange& range, Bytes found) {
    const bool one = range.low == range.high;
    const Bytes slack(range.likely.count / 100);
    add(std::move(key), std::move(text),
        one ? total_text(range.likely) : format("{} to {}", total_text(range.low), total_text(range.high)),
        total_text(found), found + slack < range.low || found > range.high + slack);
  }
  std::vector<Difference> take() { return std::move(out_); }

 private:
  std::vector<Difference> out_;
};

void compare_cuda(const CudaDevice& device, const hardware::Gpu& profile, Differences& out) {
  if (profile.sm_count.value > 0) {
    out.add("sm_count", "multiprocessors", std::to_string(profile.sm_count.value), std::to_string(device.sm_count),
            profile.sm_count.value != device.sm_count);
  }
  out.add("shared_memory_optin", "shared memory of a block", format("{} B", profile.shared_memory_optin.value.count),
          format("{} B", device.shared_memory_optin.count), profile.shared_memory_optin.value != device.shared_memory_optin);
  out.add("unified", "memory shared with the CPU", profile.unified ? "yes" : "no", device.unified ? "yes" : "no",
          profile.unified != device.unified);
}

}  // namespace

std::vector<FoundGpu> join_devices(const std::vector<NvmlDevice>& nvml, const std::vector<CudaDevice>& cuda) {
  std::vector<FoundGpu> out;
  std::vector<bool> placed(cuda.size(), false);
  for (const NvmlDevice& device : nvml) {
    bool joined = false;
    for (std::size_t i = 0; i < cuda.size(); ++i) {
      if (placed[i] || !same_device(device, cuda[i])) continue;
      FoundGpu gpu = found(device);
      take_cuda(gpu, cuda[i]);
      out.push_back(std::move(gpu));
      placed[i] = joined = true;
      if (!cuda[i].mig) break;  // a GPU that is cut up may have several slices
    }
    if (!joined) out.push_back(found(device));
  }
  for (std::size_t i = 0; i < cuda.size(); ++i) {
    if (placed[i]) continue;
    FoundGpu gpu;
    take_cuda(gpu, cuda[i]);
    out.push_back(std::move(gpu));
  }
  std::stable_sort(out.begin(), out.end(), [](const FoundGpu& a, const FoundGpu& b) { return a.pci_bus_id < b.pci_bus_id; });
  return out;
}

Detection detect_gpus() {
  std::string no_nvml;
  const std::unique_ptr<Nvml> nvml = Nvml::open(no_nvml);
  std::vector<NvmlDevice> nvml_devices;
  Detection out{.system = host_system()};
  if (nvml) {
    nvml_devices = nvml->devices();
    out.driver_version = nvml->driver_version();
  }
  try {
    const CudaDriver driver;
    const std::vector<CudaDevice> cuda = cuda_devices(driver);
    out.cuda_version = driver.version();
    out.gpus = join_devices(nvml_devices, cuda);
    out.source = nvml_devices.empty() ? "CUDA" : "NVML and CUDA";
    if (nvml_devices.empty()) out.remarks.push_back(nvml ? "NVML sees no GPU" : no_nvml);
  } catch (const profiles::Error& error) {
    if (nvml_devices.empty()) return ask_nvidia_smi(error);
    out.gpus = join_devices(nvml_devices, {});
    out.source = "NVML";
    out.remarks.push_back(error.message());
    if (!error.hint().empty()) out.remarks.push_back(error.hint());
  }
  return out;
}

Detection gpus_in_smi_text(const std::string& text, const std::string& file) {
  const SmiReading reading = read_smi(text, file);
  return {.gpus = join_devices(reading.devices, {}),
          .source = file,
          .driver_version = reading.driver_version,
          .system = std::nullopt,
          .remarks = {"CUDA was not asked: totals are NVML's, of which the driver keeps a part"}};
}

Detection gpus_in_smi_file(const std::string& path) { return gpus_in_smi_text(profiles::read_text_file(path), path); }

hardware::DetectedGpu as_detected(const FoundGpu& gpu) {
  hardware::DetectedGpu out{.name = gpu.name, .capability = gpu.capability};
  if (gpu.cuda) out.unified = gpu.cuda->unified;
  // On unified memory NVML's total is a carve-out, or nothing; of a slice it is the whole GPU's.
  if (gpu.nvml && !out.unified) out.total = gpu.nvml->total;
  if (gpu.cuda && out.total.count == 0) out.total = gpu.cuda->total;
  return out;
}

void use_total(hardware::Node& node, const FoundGpu& gpu) {
  if (!gpu.cuda) return;
  const hardware::Fact<hardware::ByteRange> total{.value = {gpu.cuda->total, gpu.cuda->total, gpu.cuda->total},
                                                  .sourced = true,
                                                  .derived = false,
                                                  .source = "read from the CUDA driver of this machine"};
  node.measured_from = "the CUDA driver";
  if (node.system == hardware::System::wsl2) {
    node.gpu.cuda_total_wsl2 = total;
  } else {
    node.gpu.cuda_total_linux = total;
  }
}

std::vector<Difference> compare_with_profile(const FoundGpu& found, const hardware::Gpu& profile, hardware::System system) {
  Differences out;
  const auto capability = [](const hardware::Capability& c) { return format("{}.{}", c.major, c.minor); };
  if (found.capability.number() > 0) {
    out.add("capability", "compute capability", capability(profile.capability), capability(found.capability),
            profile.capability != found.capability);
  }
  const bool nvml_total = found.nvml && found.nvml->total.count > 0 && !profile.unified;
  if (nvml_total && profile.nvml_total) {
    const Bytes known = profile.nvml_total->value;
    out.total("nvml_total", "memory by NVML", {known, known, known}, found.nvml->total);
  }
  if (found.cuda) {
    const bool wsl = system == hardware::System::wsl2 && profile.cuda_total_wsl2;
    out.total("cuda_total", "memory by CUDA", wsl ? profile.cuda_total_wsl2->value : profile.cuda_total_linux.value,
              found.cuda->total);
    compare_cuda(*found.cuda, profile, out);
  }
  if (found.nvml && found.nvml->used && !profile.unified) {
    out.add("in_use", "memory in use now", format("{} when idle", total_text(profile.idle.value.likely)),
            total_text(*found.nvml->used), *found.nvml->used > profile.idle.value.high + profiles::mib(64));
  }
  return out.take();
}

}  // namespace kvfit::runtime
