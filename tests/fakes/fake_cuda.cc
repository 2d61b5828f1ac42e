// A libcuda.so.1 without a GPU, for tests: fake_devices.h says what it can be told. It keeps books: calls, live resources,
// the peak; a test reads them from KVFIT_FAKE_REPORT after the program ended.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cuda_abi.h"
#include "tests/fakes/fake_devices.h"
#include "tests/fakes/fake_kernels.h"
#include "tests/fakes/fake_memory.h"

namespace {

using namespace kvfit::fakes;
using namespace kvfit::runtime::cuda;
using Clock = std::chrono::steady_clock;

constexpr Result kInvalidValue = 1, kNotInitialized = 3, kNoDevice = 100, kInvalidDevice = 101, kInvalidContext = 201,
                 kInvalidPtx = 218, kInvalidHandle = 400, kIllegalAddress = 700, kNotFound = 500;
constexpr double kHostRate = 20e9, kCopyRate = 25e9;

struct Kernel {
  std::string name;
  std::vector<std::size_t> parameters;
};

struct State {
  Faults faults{"KVFIT_FAKE"};
  bool initialised = false;
  int contexts = 0, device = -1;
  bool current = false;
  FakeMemory memory;
  std::map<void*, std::size_t> pinned;
  std::set<int> streams;
  std::map<int, std::string> modules;
  std::map<int, Kernel> kernels;
  int next_handle = 1;
  Clock::time_point busy_until = Clock::now();
  std::string failed_call = "none";
  std::uint64_t flip_offset = 0, flip_number = ~std::uint64_t{0};

  State() {
    const std::string flip = setting("KVFIT_FAKE_FLIP");
    if (flip.empty()) return;
    flip_number = std::strtoull(flip.c_str(), nullptr, 10);
    flip_offset = std::strtoull(flip.c_str() + flip.find(':') + 1, nullptr, 10);
  }
  ~State() { report(); }
  void report() const;
};

void State::report() const {
  const std::string path = setting("KVFIT_FAKE_REPORT");
  if (path.empty()) return;
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return;
  std::uint64_t pinned_bytes = 0;
  for (const std::pair<void* const, std::size_t>& piece : pinned) pinned_bytes += piece.second;
  std::fprintf(file, "calls %llu\nlive_allocations %zu\nlive_bytes %llu\npeak_bytes %llu\nlive_pinned_bytes %llu\n",
               static_cast<unsigned long long>(faults.calls()), memory.live(),
               static_cast<unsigned long long>(memory.live_bytes()), static_cast<unsigned long long>(memory.peak_bytes()),
               static_cast<unsigned long long>(pinned_bytes));
  std::fprintf(file, "live_streams %zu\nlive_modules %zu\nlive_contexts %d\nfailed_call %s\n", streams.size(),
               modules.size(), contexts, failed_call.c_str());
  std::fclose(file);
}

State& state() {
  static State out;
  return out;
}

// Every call passes here: latency, faults, and whether the library is ready for it.
Result enter(const char* call, bool needs_context) {
  static const std::uint64_t latency = number("KVFIT_FAKE_LATENCY_US", 0);
  if (latency > 0) std::this_thread::sleep_for(std::chrono::microseconds(latency));
  State& s = state();
  if (const int fault = s.faults.next(call)) {
    s.failed_call = call;
    return fault;
  }
  if (!s.initialised && std::strcmp(call, "cuInit") != 0 && std::strcmp(call, "cuDriverGetVersion") != 0) {
    return kNotInitialized;
  }
  return needs_context && !s.current ? kInvalidContext : kSuccess;
}

const FakeGpu* gpu_of(DeviceHandle device) {
  const bool known = device >= 0 && static_cast<std::size_t>(device) < fake_gpus().size();
  return known ? &fake_gpus()[static_cast<std::size_t>(device)] : nullptr;
}

std::uint64_t others() {
  const FakeGpu& gpu = *gpu_of(state().device);
  return gpu.context + mib("KVFIT_FAKE_USED_MIB", 0);
}

// Work of so many bytes joins the queue.
void queue(std::int64_t bytes, double rate) {
  static const double slower = static_cast<double>(number("KVFIT_FAKE_SLOWER", 1));
  State& s = state();
  s.busy_until =
      std::max(s.busy_until, Clock::now()) +
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(static_cast<double>(bytes) / rate * slower));
}

// Addresses are given out in rising order, so that what lies beyond a limit is what was allocated last.
double rate_at(std::uint64_t address) {
  const std::uint64_t limit = mib("KVFIT_FAKE_SPILL_MIB", ~std::uint64_t{0} >> 1);
  return address - kFirstAddress > limit ? kHostRate : gpu_of(state().device)->bandwidth;
}

void wait() { std::this_thread::sleep_until(state().busy_until); }

void flip_when_due(std::uint64_t address, std::uint64_t bytes) {
  State& s = state();
  if (s.memory.number_of(address) != s.flip_number) return;
  // A whole word is written back, so that the ranges around it still begin at words.
  const std::uint64_t at = s.memory.base_of(address) + s.flip_offset / 8 * 8;
  if (at < address || at + 8 > address + bytes) return;
  std::string word = s.memory.read(at, 8);
  char& byte = word[s.flip_offset % 8];
  byte = static_cast<char>(byte ^ 1);
  s.memory.write(at, word);
}

// Pages beyond the limit forget what was written.
void forget_when_due(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t limit = mib("KVFIT_FAKE_UNBACKED_MIB", 0);
  if (limit == 0 || address - kFirstAddress < limit) return;
  state().memory.write_rule(address, bytes, {0, 0});
}

void end_context() {
  State& s = state();
  s.memory.release_all();
  for (const std::pair<void* const, std::size_t>& piece : s.pinned) std::free(piece.first);
  s.pinned.clear();
  s.streams.clear();
  s.modules.clear();
  s.kernels.clear();
  s.current = false;
}

template <typename Tag>
Tag* handle_of(int id) {
  return reinterpret_cast<Tag*>(static_cast<std::uintptr_t>(id));
}
template <typename Tag>
int id_of(Tag* handle) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle));
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

Result cuInit(unsigned) {
  if (const Result r = enter("cuInit", false)) return r;
  if (fake_gpus().empty()) return kNoDevice;
  state().initialised = true;
  return kSuccess;
}

Result cuDriverGetVersion(int* version) {
  if (const Result r = enter("cuDriverGetVersion", false)) return r;
  *version = 13000;
  return kSuccess;
}

Result cuDeviceGetCount(int* count) {
  if (const Result r = enter("cuDeviceGetCount", false)) return r;
  *count = static_cast<int>(fake_gpus().size());
  return kSuccess;
}

Result cuDeviceGet(DeviceHandle* device, int ordinal) {
  if (const Result r = enter("cuDeviceGet", false)) return r;
  if (gpu_of(ordinal) == nullptr) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

Result cuDeviceGetName(char* name, int length, DeviceHandle device) {
  if (const Result r = enter("cuDeviceGetName", false)) return r;
  std::snprintf(name, static_cast<std::size_t>(length), "%s", gpu_of(device)->name);
  return kSuccess;
}

Result cuDeviceGetAttribute(int* value, Attribute attribute, DeviceHandle device) {
  if (const Result r = enter("cuDeviceGetAttribute", false)) return r;
  const FakeGpu& gpu = *gpu_of(device);
  switch (attribute) {
    case kMultiprocessorCount:
      *value = gpu.sm_count;
      return kSuccess;
    case kKernelExecTimeout:
    case kEccEnabled:
      *value = 0;
      return kSuccess;
    case kIntegrated:
      *value = gpu.unified ? 1 : 0;
      return kSuccess;
    case kCapabilityMajor:
      *value = gpu.major;
      return kSuccess;
    case kCapabilityMinor:
      *value = gpu.minor;
      return kSuccess;
    case kSharedMemoryOptin:
      *value = gpu.shared_memory_optin;
      return kSuccess;
    case kMpsEnabled:
      *value = setting("KVFIT_FAKE_LIMIT_MIB").empty() ? 0 : 1;
      return kSuccess;
  }
  return kInvalidValue;
}

Result cuDeviceGetUuid_v2(Uuid* uuid, DeviceHandle device) {
  if (const Result r = enter("cuDeviceGetUuid_v2", false)) return r;
  uuid_of(static_cast<std::size_t>(device), gpu_of(device)->mig, uuid->bytes);
  return kSuccess;
}

Result cuDeviceGetPCIBusId(char* id, int length, DeviceHandle device) {
  if (const Result r = enter("cuDeviceGetPCIBusId", false)) return r;
  std::snprintf(id, static_cast<std::size_t>(length), "%s", pci_id_of(static_cast<std::size_t>(device)).c_str());
  return kSuccess;
}

Result cuDeviceTotalMem_v2(std::size_t* bytes, DeviceHandle device) {
  if (const Result r = enter("cuDeviceTotalMem_v2", false)) return r;
  *bytes = gpu_of(device)->cuda_total;
  return kSuccess;
}

Result cuDevicePrimaryCtxRetain(Context* context, DeviceHandle device) {
  if (const Result r = enter("cuDevicePrimaryCtxRetain", false)) return r;
  ++state().contexts;
  state().device = device;
  *context = handle_of<ContextTag>(device + 1);
  return kSuccess;
}

Result cuDevicePrimaryCtxRelease_v2(DeviceHandle) {
  if (const Result r = enter("cuDevicePrimaryCtxRelease_v2", false)) return r;
  if (state().contexts == 0) return kInvalidContext;
  if (--state().contexts == 0) end_context();
  return kSuccess;
}

Result cuCtxSetCurrent(Context context) {
  if (const Result r = enter("cuCtxSetCurrent", false)) return r;
  state().current = context != nullptr && state().contexts > 0;
  return state().current ? kSuccess : kInvalidContext;
}

Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  if (const Result r = enter("cuMemGetInfo_v2", true)) return r;
  *total = gpu_of(state().device)->cuda_total;
  const std::uint64_t used = others() + state().memory.live_bytes();
  *free = used < *total ? *total - used : 0;
  return kSuccess;
}

Result cuMemAlloc_v2(DevicePointer* pointer, std::size_t bytes) {
  if (const Result r = enter("cuMemAlloc_v2", true)) return r;
  State& s = state();
  const bool overcommits = !setting("KVFIT_FAKE_SPILL_MIB").empty() || !setting("KVFIT_FAKE_UNBACKED_MIB").empty();
  const std::uint64_t room = gpu_of(s.device)->cuda_total - others();
  const std::uint64_t limit = std::min(room, mib("KVFIT_FAKE_LIMIT_MIB", room));
  if (bytes == 0) return kInvalidValue;
  if (!overcommits && s.memory.live_bytes() + bytes > limit) return kOutOfMemory;
  *pointer = s.memory.allocate(bytes);
  return kSuccess;
}

Result cuMemFree_v2(DevicePointer pointer) {
  if (const Result r = enter("cuMemFree_v2", true)) return r;
  return state().memory.release(pointer) ? kSuccess : kInvalidValue;
}

Result cuMemAllocHost_v2(void** pointer, std::size_t bytes) {
  if (const Result r = enter("cuMemAllocHost_v2", true)) return r;
  *pointer = std::malloc(bytes);
  state().pinned[*pointer] = bytes;
  return kSuccess;
}

Result cuMemFreeHost(void* pointer) {
  if (const Result r = enter("cuMemFreeHost", true)) return r;
  if (state().pinned.erase(pointer) == 0) return kInvalidValue;
  std::free(pointer);
  return kSuccess;
}

Result cuMemsetD8_v2(DevicePointer at, unsigned char value, std::size_t count) {
  if (const Result r = enter("cuMemsetD8_v2", true)) return r;
  wait();
  if (!state().memory.holds(at, count)) return kInvalidValue;
  state().memory.write(at, std::string(count, static_cast<char>(value)));
  return kSuccess;
}

Result cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t bytes, Stream) {
  if (const Result r = enter("cuMemcpyHtoDAsync_v2", true)) return r;
  if (!state().memory.holds(to, bytes)) return kInvalidValue;
  state().memory.write(to, std::string_view(static_cast<const char*>(from), bytes));
  flip_when_due(to, bytes);
  queue(static_cast<std::int64_t>(bytes), kCopyRate);
  return kSuccess;
}

Result cuMemcpyDtoH_v2(void* to, DevicePointer from, std::size_t bytes) {
  if (const Result r = enter("cuMemcpyDtoH_v2", true)) return r;
  wait();
  if (!state().memory.holds(from, bytes)) return kInvalidValue;
  const std::string found = state().memory.read(from, bytes);
  std::memcpy(to, found.data(), found.size());
  return kSuccess;
}

Result cuStreamCreate(Stream* stream, unsigned) {
  if (const Result r = enter("cuStreamCreate", true)) return r;
  const int id = state().next_handle++;
  state().streams.insert(id);
  *stream = handle_of<StreamTag>(id);
  return kSuccess;
}

Result cuStreamDestroy_v2(Stream stream) {
  if (const Result r = enter("cuStreamDestroy_v2", true)) return r;
  return state().streams.erase(id_of(stream)) == 1 ? kSuccess : kInvalidHandle;
}

Result cuStreamSynchronize(Stream stream) {
  if (const Result r = enter("cuStreamSynchronize", true)) return r;
  if (!state().streams.contains(id_of(stream))) return kInvalidHandle;
  wait();
  return kSuccess;
}

Result cuModuleLoadDataEx(Module* module, const void* image, unsigned count, int* options, void** values) {
  const Result fault = enter("cuModuleLoadDataEx", true);
  const std::string text = static_cast<const char*>(image);
  const bool invalid = text.find(".version 7.0") == std::string::npos || text.find(".target sm_80") == std::string::npos;
  if (fault == kInvalidPtx || invalid) {
    constexpr int kErrorLogBuffer = 5;
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == kErrorLogBuffer) std::strcpy(static_cast<char*>(values[i]), "ptxas fatal : Ptx assembly aborted\n");
    }
    return kInvalidPtx;
  }
  if (fault != kSuccess) return fault;
  const int id = state().next_handle++;
  state().modules[id] = text;
  *module = handle_of<ModuleTag>(id);
  return kSuccess;
}

Result cuModuleGetFunction(Function* function, Module module, const char* name) {
  if (const Result r = enter("cuModuleGetFunction", true)) return r;
  const std::map<int, std::string>::const_iterator found = state().modules.find(id_of(module));
  if (found == state().modules.end()) return kInvalidHandle;
  const std::vector<std::size_t> parameters = parameters_of(found->second, name);
  if (parameters.empty()) return kNotFound;
  const int id = state().next_handle++;
  state().kernels[id] = {name, parameters};
  *function = handle_of<FunctionTag>(id);
  return kSuccess;
}

Result cuModuleUnload(Module module) {
  if (const Result r = enter("cuModuleUnload", true)) return r;
  return state().modules.erase(id_of(module)) == 1 ? kSuccess : kInvalidHandle;
}

Result cuLaunchKernel(Function function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream stream,
                      void** arguments, void**) {
  if (const Result r = enter("cuLaunchKernel", true)) return r;
  State& s = state();
  const std::map<int, Kernel>::const_iterator kernel = s.kernels.find(id_of(function));
  if (kernel == s.kernels.end() || !s.streams.contains(id_of(stream))) return kInvalidHandle;
  const std::int64_t bytes = run_kernel(s.memory, kernel->second.name, arguments);
  if (bytes < 0) return kIllegalAddress;
  std::uint64_t region = 0;
  std::memcpy(&region, arguments[0], sizeof region);
  if (kernel->second.name == "kvfit_fill") {
    flip_when_due(region, static_cast<std::uint64_t>(bytes));
    forget_when_due(region, static_cast<std::uint64_t>(bytes));
  }
  queue(bytes, rate_at(region));
  return kSuccess;
}

Result cuGetErrorString(Result result, const char** text) {
  *text = result == 999 ? "unknown error" : "an error of a test";
  return kSuccess;
}

#pragma GCC visibility pop
}
