// The CUDA Driver API as far as kvfit uses it: our own declarations of a stable ABI, so that no CUDA header is needed to
// build. Where <cuda.h> is present, tests/runtime/cuda_abi_check.cc proves that every one of them matches it.
//
// Source: CUDA Driver API reference, docs.nvidia.com/cuda/cuda-driver-api, 13.0. Names without `_v2` that have one are an
// old 32-bit ABI which the library still exports; calling them fails with INVALID_CONTEXT.
#pragma once

#include <cstddef>

namespace kvfit::runtime::cuda {

using Result = int;                        ///< CUresult; 0 is success, driver_faults.h tells the others apart
using DeviceHandle = int;                  ///< CUdevice
using DevicePointer = unsigned long long;  ///< CUdeviceptr, an address on the device
struct ContextTag;
struct ModuleTag;
struct FunctionTag;
struct StreamTag;
using Context = ContextTag*;
using Module = ModuleTag*;
using Function = FunctionTag*;
using Stream = StreamTag*;
struct Uuid {
  unsigned char bytes[16];
};

inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfMemory = 2;

/// CUdevice_attribute.
enum Attribute : int {
  kMultiprocessorCount = 16,
  kKernelExecTimeout = 17,  ///< a watchdog ends kernels that run for seconds
  kIntegrated = 18,         ///< CPU and GPU share one memory
  kEccEnabled = 32,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kSharedMemoryOptin = 97,  ///< bytes a block may ask for
  kMpsEnabled = 133,
};

/// Every entry point kvfit calls, under the symbol that carries today's ABI.
struct Functions {
  Result (*cuInit)(unsigned flags);
  Result (*cuDriverGetVersion)(int* version);
  Result (*cuDeviceGetCount)(int* count);
  Result (*cuDeviceGet)(DeviceHandle* device, int ordinal);
  Result (*cuDeviceGetName)(char* name, int length, DeviceHandle device);
  Result (*cuDeviceGetAttribute)(int* value, Attribute attribute, DeviceHandle device);
  Result (*cuDeviceGetUuid_v2)(Uuid* uuid, DeviceHandle device);
  Result (*cuDeviceGetPCIBusId)(char* id, int length, DeviceHandle device);
  Result (*cuDeviceTotalMem_v2)(std::size_t* bytes, DeviceHandle device);
  Result (*cuDevicePrimaryCtxRetain)(Context* context, DeviceHandle device);
  Result (*cuDevicePrimaryCtxRelease_v2)(DeviceHandle device);
  Result (*cuCtxSetCurrent)(Context context);
  Result (*cuMemGetInfo_v2)(std::size_t* free, std::size_t* total);
  Result (*cuMemAlloc_v2)(DevicePointer* pointer, std::size_t bytes);
  Result (*cuMemFree_v2)(DevicePointer pointer);
  Result (*cuMemAllocHost_v2)(void** pointer, std::size_t bytes);
  Result (*cuMemFreeHost)(void* pointer);
  Result (*cuMemsetD8_v2)(DevicePointer pointer, unsigned char value, std::size_t count);
  Result (*cuMemcpyHtoDAsync_v2)(DevicePointer to, const void* from, std::size_t bytes, Stream stream);
  Result (*cuMemcpyDtoH_v2)(void* to, DevicePointer from, std::size_t bytes);
  Result (*cuStreamCreate)(Stream* stream, unsigned flags);
  Result (*cuStreamDestroy_v2)(Stream stream);
  Result (*cuStreamSynchronize)(Stream stream);
  Result (*cuModuleLoadDataEx)(Module* module, const void* image, unsigned count, int* options, void** values);
  Result (*cuModuleGetFunction)(Function* function, Module module, const char* name);
  Result (*cuModuleUnload)(Module module);
  Result (*cuLaunchKernel)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                           unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** arguments,
                           void** extra);
  Result (*cuGetErrorString)(Result result, const char** text);
};

}  // namespace kvfit::runtime::cuda
