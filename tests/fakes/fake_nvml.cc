// A libnvidia-ml.so.1 without a GPU, for tests: the same machine as fake_cuda.cc shows, counted in PCI order.
//   KVFIT_FAKE_NVML_FAIL_AT, _FAIL_CALL, _FAIL_WITH   as fake_devices.h says for CUDA
//   KVFIT_FAKE_NVML_USED_FILE                         a file with the MiB in use now, read at every question
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "runtime/nvml_abi.h"
#include "tests/fakes/fake_devices.h"

namespace {

using namespace kvfit::fakes;
using namespace kvfit::runtime::nvml;

constexpr Return kInvalidArgument = 2, kNotSupported = 3;

Return enter(const char* call) {
  static Faults faults("KVFIT_FAKE_NVML");
  return faults.next(call);
}

// NVML's index: the reverse of CUDA's here.
std::size_t gpu_index(Handle handle) { return fake_gpus().size() - reinterpret_cast<std::uintptr_t>(handle); }
const FakeGpu& gpu_of(Handle handle) { return fake_gpus()[gpu_index(handle)]; }

unsigned long long used_bytes() {
  const std::string path = setting("KVFIT_FAKE_NVML_USED_FILE");
  unsigned long long used = number("KVFIT_FAKE_USED_MIB", 0);
  if (!path.empty()) std::ifstream(path) >> used;
  return used * kMiB;
}

unsigned long long reserved_bytes(const FakeGpu& gpu) { return gpu.nvml_total - std::min(gpu.cuda_total, gpu.nvml_total); }

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

Return nvmlInit_v2() { return enter("nvmlInit_v2"); }
Return nvmlShutdown() { return enter("nvmlShutdown"); }
const char* nvmlErrorString(Return) { return "Driver Not Loaded"; }

Return nvmlSystemGetDriverVersion(char* text, unsigned length) {
  if (const Return r = enter("nvmlSystemGetDriverVersion")) return r;
  std::snprintf(text, length, "580.95.05");
  return kSuccess;
}

Return nvmlDeviceGetCount_v2(unsigned* count) {
  if (const Return r = enter("nvmlDeviceGetCount_v2")) return r;
  *count = static_cast<unsigned>(fake_gpus().size());
  return kSuccess;
}

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle* handle) {
  if (const Return r = enter("nvmlDeviceGetHandleByIndex_v2")) return r;
  if (index >= fake_gpus().size()) return kInvalidArgument;
  *handle = reinterpret_cast<Handle>(static_cast<std::uintptr_t>(index + 1));
  return kSuccess;
}

Return nvmlDeviceGetName(Handle handle, char* text, unsigned length) {
  if (const Return r = enter("nvmlDeviceGetName")) return r;
  std::snprintf(text, length, "%s", gpu_of(handle).parent_name);
  return kSuccess;
}

Return nvmlDeviceGetUUID(Handle handle, char* text, unsigned length) {
  if (const Return r = enter("nvmlDeviceGetUUID")) return r;
  unsigned char id[16];
  uuid_of(gpu_index(handle), false, id);
  std::string out = "GPU";
  for (unsigned i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", id[i]);
    out += digits;
  }
  std::snprintf(text, length, "%s", out.c_str());
  return kSuccess;
}

Return nvmlDeviceGetPciInfo_v3(Handle handle, PciInfo* info) {
  if (const Return r = enter("nvmlDeviceGetPciInfo_v3")) return r;
  std::snprintf(info->id, sizeof info->id, "0000%s", pci_id_of(gpu_index(handle)).c_str());
  return kSuccess;
}

Return nvmlDeviceGetMemoryInfo(Handle handle, Memory* memory) {
  if (const Return r = enter("nvmlDeviceGetMemoryInfo")) return r;
  const FakeGpu& gpu = gpu_of(handle);
  if (gpu.nvml_total == 0) return kNotSupported;
  *memory = {gpu.nvml_total, 0, used_bytes() + reserved_bytes(gpu)};
  memory->free = memory->total - std::min(memory->total, memory->used);
  return kSuccess;
}

Return nvmlDeviceGetMemoryInfo_v2(Handle handle, MemoryV2* memory) {
  if (const Return r = enter("nvmlDeviceGetMemoryInfo_v2")) return r;
  const FakeGpu& gpu = gpu_of(handle);
  if (gpu.nvml_total == 0) return kNotSupported;
  if (memory->version != kMemoryV2) return kInvalidArgument;
  *memory = {memory->version, gpu.nvml_total, reserved_bytes(gpu), 0, used_bytes()};
  return kSuccess;
}

Return nvmlDeviceGetCudaComputeCapability(Handle handle, int* major, int* minor) {
  if (const Return r = enter("nvmlDeviceGetCudaComputeCapability")) return r;
  *major = gpu_of(handle).major;
  *minor = gpu_of(handle).minor;
  return kSuccess;
}

Return nvmlDeviceGetMigMode(Handle handle, unsigned* current, unsigned* pending) {
  if (const Return r = enter("nvmlDeviceGetMigMode")) return r;
  *current = *pending = gpu_of(handle).mig ? 1 : 0;
  return kSuccess;
}

#pragma GCC visibility pop
}
