#include "runtime/cuda_driver.h"

#include <array>
#include <string>
#include <string_view>

#include "profiles/error.h"
#include "profiles/text.h"
#include "runtime/driver_faults.h"

namespace kvfit::runtime {
namespace {

using profiles::fail_environment;
using profiles::format;

constexpr std::array kLibraries = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};

// The first symbol the library lacks, or nullptr.
const char* resolve_all(const DynamicLibrary& library, cuda::Functions& f) {
  const char* missing = nullptr;
  const auto take = [&](auto*& slot, const char* name) {
    if (!library.resolve(slot, name) && missing == nullptr) missing = name;
  };
  take(f.cuInit, "cuInit");
  take(f.cuDriverGetVersion, "cuDriverGetVersion");
  take(f.cuDeviceGetCount, "cuDeviceGetCount");
  take(f.cuDeviceGet, "cuDeviceGet");
  take(f.cuDeviceGetName, "cuDeviceGetName");
  take(f.cuDeviceGetAttribute, "cuDeviceGetAttribute");
  take(f.cuDeviceGetUuid_v2, "cuDeviceGetUuid_v2");
  take(f.cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId");
  take(f.cuDeviceTotalMem_v2, "cuDeviceTotalMem_v2");
  take(f.cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  take(f.cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease_v2");
  take(f.cuCtxSetCurrent, "cuCtxSetCurrent");
  take(f.cuMemGetInfo_v2, "cuMemGetInfo_v2");
  take(f.cuMemAlloc_v2, "cuMemAlloc_v2");
  take(f.cuMemFree_v2, "cuMemFree_v2");
  take(f.cuMemAllocHost_v2, "cuMemAllocHost_v2");
  take(f.cuMemFreeHost, "cuMemFreeHost");
  take(f.cuMemsetD8_v2, "cuMemsetD8_v2");
  take(f.cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync_v2");
  take(f.cuMemcpyDtoH_v2, "cuMemcpyDtoH_v2");
  take(f.cuStreamCreate, "cuStreamCreate");
  take(f.cuStreamDestroy_v2, "cuStreamDestroy_v2");
  take(f.cuStreamSynchronize, "cuStreamSynchronize");
  take(f.cuModuleLoadDataEx, "cuModuleLoadDataEx");
  take(f.cuModuleGetFunction, "cuModuleGetFunction");
  take(f.cuModuleUnload, "cuModuleUnload");
  take(f.cuLaunchKernel, "cuLaunchKernel");
  take(f.cuGetErrorString, "cuGetErrorString");
  return missing;
}

}  // namespace

CudaDriver::CudaDriver() : library_(kLibraries) {
  if (!library_.loaded()) {
    const bool absent = library_.why().find("No such file") != std::string::npos;
    fail_environment(absent ? "no NVIDIA driver on this machine: libcuda.so.1 is not there"
                            : format("the NVIDIA driver cannot be loaded: {}", library_.why()),
                     {},
                     "install the driver until nvidia-smi lists the GPU; start a container with --gpus all; under WSL2 "
                     "install the Windows driver only");
  }
  if (const char* missing = resolve_all(library_, functions_)) {
    fail_environment(format("the NVIDIA driver is too old: {} lacks {}", library_.name(), missing), {},
                     "update it to one of CUDA 11.4 (r470) or newer");
  }
  check(functions_.cuInit(0), "cuInit");
  check(functions_.cuDriverGetVersion(&version_), "cuDriverGetVersion");
}

void CudaDriver::check(cuda::Result result, std::string_view call) const {
  if (result == cuda::kSuccess) return;
  if (const DriverFault* fault = find_fault(result)) {
    fail_environment(format("{} ({}: {} {})", fault->meaning, call, fault->name, result), {}, std::string(fault->remedy));
  }
  const char* text = nullptr;
  if (functions_.cuGetErrorString(result, &text) != cuda::kSuccess || text == nullptr) text = "no words for it";
  fail_environment(format("the CUDA driver failed: {} ({} {})", text, call, result), {},
                   "see dmesg for Xid lines, and whether nvidia-smi still answers");
}

std::string cuda_version_text(int version) { return format("{}.{}", version / 1000, version % 1000 / 10); }

}  // namespace kvfit::runtime
