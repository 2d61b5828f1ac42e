// Compiled where the toolkit's <cuda.h> is at hand: every declaration of runtime/cuda_abi.h against NVIDIA's own, parameter
// by parameter, and every constant. Nothing runs; that it compiles is the test.
#include <cuda.h>

#include <cstdio>
#include <type_traits>

#include "runtime/cuda_abi.h"

namespace {

using kvfit::runtime::cuda::Functions;

// Passed alike by the ABI: both pointers, or both integers (enumerations too) of one size.
template <typename A, typename B>
constexpr bool alike() {
  if constexpr (std::is_pointer_v<A> || std::is_pointer_v<B>) {
    return std::is_pointer_v<A> && std::is_pointer_v<B>;
  } else {
    constexpr bool numbers = (std::is_integral_v<A> || std::is_enum_v<A>) && (std::is_integral_v<B> || std::is_enum_v<B>);
    return numbers && sizeof(A) == sizeof(B);
  }
}

template <typename Ours, typename Theirs>
struct Same : std::false_type {};
template <typename R, typename... A, typename S, typename... B>
struct Same<R (*)(A...), S (*)(B...)> {
  static constexpr bool arguments() {
    if constexpr (sizeof...(A) == sizeof...(B)) return (alike<A, B>() && ...);
    return false;
  }
  static constexpr bool value = alike<R, S>() && arguments();
};

template <auto Theirs, typename Ours>
constexpr bool matches(Ours Functions::*) {
  return Same<Ours, decltype(Theirs)>::value;
}

static_assert(matches<&cuInit>(&Functions::cuInit));
static_assert(matches<&cuDriverGetVersion>(&Functions::cuDriverGetVersion));
static_assert(matches<&cuDeviceGetCount>(&Functions::cuDeviceGetCount));
static_assert(matches<&cuDeviceGet>(&Functions::cuDeviceGet));
static_assert(matches<&cuDeviceGetName>(&Functions::cuDeviceGetName));
static_assert(matches<&cuDeviceGetAttribute>(&Functions::cuDeviceGetAttribute));
static_assert(matches<&cuDeviceGetUuid_v2>(&Functions::cuDeviceGetUuid_v2));
static_assert(matches<&cuDeviceGetPCIBusId>(&Functions::cuDeviceGetPCIBusId));
static_assert(matches<&cuDeviceTotalMem_v2>(&Functions::cuDeviceTotalMem_v2));
static_assert(matches<&cuDevicePrimaryCtxRetain>(&Functions::cuDevicePrimaryCtxRetain));
static_assert(matches<&cuDevicePrimaryCtxRelease_v2>(&Functions::cuDevicePrimaryCtxRelease_v2));
static_assert(matches<&cuCtxSetCurrent>(&Functions::cuCtxSetCurrent));
static_assert(matches<&cuMemGetInfo_v2>(&Functions::cuMemGetInfo_v2));
static_assert(matches<&cuMemAlloc_v2>(&Functions::cuMemAlloc_v2));
static_assert(matches<&cuMemFree_v2>(&Functions::cuMemFree_v2));
static_assert(matches<&cuMemAllocHost_v2>(&Functions::cuMemAllocHost_v2));
static_assert(matches<&cuMemFreeHost>(&Functions::cuMemFreeHost));
static_assert(matches<&cuMemsetD8_v2>(&Functions::cuMemsetD8_v2));
static_assert(matches<&cuMemcpyHtoDAsync_v2>(&Functions::cuMemcpyHtoDAsync_v2));
static_assert(matches<&cuMemcpyDtoH_v2>(&Functions::cuMemcpyDtoH_v2));
static_assert(matches<&cuStreamCreate>(&Functions::cuStreamCreate));
static_assert(matches<&cuStreamDestroy_v2>(&Functions::cuStreamDestroy_v2));
static_assert(matches<&cuStreamSynchronize>(&Functions::cuStreamSynchronize));
static_assert(matches<&cuModuleLoadDataEx>(&Functions::cuModuleLoadDataEx));
static_assert(matches<&cuModuleGetFunction>(&Functions::cuModuleGetFunction));
static_assert(matches<&cuModuleUnload>(&Functions::cuModuleUnload));
static_assert(matches<&cuLaunchKernel>(&Functions::cuLaunchKernel));
static_assert(matches<&cuGetErrorString>(&Functions::cuGetErrorString));

namespace ours = kvfit::runtime::cuda;
static_assert(sizeof(ours::Uuid) == sizeof(CUuuid) && sizeof(ours::DevicePointer) == sizeof(CUdeviceptr));
static_assert(static_cast<int>(ours::kSuccess) == static_cast<int>(CUDA_SUCCESS));
static_assert(static_cast<int>(ours::kOutOfMemory) == static_cast<int>(CUDA_ERROR_OUT_OF_MEMORY));
static_assert(static_cast<int>(ours::kMultiprocessorCount) == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(static_cast<int>(ours::kKernelExecTimeout) == CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT);
static_assert(static_cast<int>(ours::kIntegrated) == CU_DEVICE_ATTRIBUTE_INTEGRATED);
static_assert(static_cast<int>(ours::kEccEnabled) == CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
static_assert(static_cast<int>(ours::kCapabilityMajor) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(static_cast<int>(ours::kCapabilityMinor) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(static_cast<int>(ours::kSharedMemoryOptin) == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(static_cast<int>(ours::kMpsEnabled) == CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
// Of the rows of runtime/driver_faults.cc.
static_assert(CUDA_ERROR_STUB_LIBRARY == 34 && CUDA_ERROR_DEVICE_UNAVAILABLE == 46 && CUDA_ERROR_NO_DEVICE == 100);
static_assert(CUDA_ERROR_INVALID_DEVICE == 101 && CUDA_ERROR_DEVICE_NOT_LICENSED == 102);
static_assert(CUDA_ERROR_INVALID_CONTEXT == 201 && CUDA_ERROR_NO_BINARY_FOR_GPU == 209);
static_assert(CUDA_ERROR_ECC_UNCORRECTABLE == 214 && CUDA_ERROR_INVALID_PTX == 218);
static_assert(CUDA_ERROR_JIT_COMPILER_NOT_FOUND == 221 && CUDA_ERROR_UNSUPPORTED_PTX_VERSION == 222);
static_assert(CUDA_ERROR_ILLEGAL_ADDRESS == 700 && CUDA_ERROR_LAUNCH_TIMEOUT == 702);
static_assert(CUDA_ERROR_CONTEXT_IS_DESTROYED == 709 && CUDA_ERROR_LAUNCH_FAILED == 719);
static_assert(CUDA_ERROR_NOT_SUPPORTED == 801 && CUDA_ERROR_SYSTEM_NOT_READY == 802);
static_assert(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH == 803 && CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE == 804);
static_assert(CUDA_ERROR_MPS_CONNECTION_FAILED == 805 && CUDA_ERROR_MPS_RPC_FAILURE == 806);
static_assert(CUDA_ERROR_MPS_SERVER_NOT_READY == 807 && CUDA_ERROR_MPS_MAX_CLIENTS_REACHED == 808);
// CUjit_option of runtime/cuda_kernels.cc.
static_assert(CU_JIT_ERROR_LOG_BUFFER == 5 && CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES == 6);

}  // namespace

int main() {
  std::puts("28 entry points and 36 constants match cuda.h");
  return sizeof(Functions) == 28 * sizeof(void*) ? 0 : 1;
}
