#include "runtime/driver_faults.h"

#include <array>

namespace kvfit::runtime {
namespace {

// Values and names: cuda.h, enum cudaError_enum. Remedies: the driver API reference and the documents of the container
// toolkit, MIG, MPS, vGPU and fabric manager.
constexpr std::array kFaults = {
    DriverFault{1, "CUDA_ERROR_INVALID_VALUE", "the driver refuses a value",
                "this may be a bug in kvfit: please report it with the driver's version"},
    DriverFault{2, "CUDA_ERROR_OUT_OF_MEMORY", "the device is out of memory",
                "end what else runs on it (nvidia-smi lists it), or plan for less"},
    DriverFault{3, "CUDA_ERROR_NOT_INITIALIZED", "the driver is not initialised",
                "the kernel module may be missing: modprobe nvidia, then nvidia-smi"},
    DriverFault{34, "CUDA_ERROR_STUB_LIBRARY", "the CUDA library found is the toolkit's stub for linking, not the driver",
                "take the directory 'stubs' out of LD_LIBRARY_PATH; the driver brings its own libcuda.so.1"},
    DriverFault{46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "the GPU is held by another process",
                "compute mode is exclusive, or an MPS server owns it: see nvidia-smi -q -d COMPUTE"},
    DriverFault{100, "CUDA_ERROR_NO_DEVICE", "the driver is there but sees no GPU",
                "see nvidia-smi -L and CUDA_VISIBLE_DEVICES; a container needs --gpus all"},
    DriverFault{101, "CUDA_ERROR_INVALID_DEVICE", "no such GPU", "see kvfit gpus detect and CUDA_VISIBLE_DEVICES"},
    DriverFault{102, "CUDA_ERROR_DEVICE_NOT_LICENSED", "the virtual GPU has no licence",
                "give the guest its vGPU licence, then try again"},
    DriverFault{201, "CUDA_ERROR_INVALID_CONTEXT", "the context is not valid",
                "an earlier fault ended it: see dmesg for Xid lines"},
    DriverFault{209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel was made for this GPU",
                "kvfit's kernels need compute capability 8.0 or newer"},
    DriverFault{214, "CUDA_ERROR_ECC_UNCORRECTABLE", "the memory has an error that ECC cannot mend",
                "see nvidia-smi -q -d ECC,ROW_REMAPPER: reset or replace the GPU"},
    DriverFault{218, "CUDA_ERROR_INVALID_PTX", "the driver cannot compile kvfit's kernels",
                "they need compute capability 8.0 and a driver of CUDA 11.0 or newer"},
    DriverFault{221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "the driver's compiler is missing",
                "install libnvidia-ptxjitcompiler.so.1 of the same driver; containers need the capability compute"},
    DriverFault{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the driver is older than kvfit's kernels (PTX 7.0)",
                "update the driver to one of CUDA 11.0 (r450) or newer"},
    DriverFault{700, "CUDA_ERROR_ILLEGAL_ADDRESS", "a kernel touched memory that is not there",
                "under WSL2 an allocation may not be backed; elsewhere see dmesg for Xid lines"},
    DriverFault{702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the watchdog ended a kernel",
                "the memory is far slower than it should be: it spilled to the host, or a display holds the GPU"},
    DriverFault{709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "the context is gone",
                "an earlier fault ended it: see dmesg for Xid lines"},
    DriverFault{719, "CUDA_ERROR_LAUNCH_FAILED", "a kernel failed", "see dmesg for Xid lines"},
    DriverFault{801, "CUDA_ERROR_NOT_SUPPORTED", "the driver does not support this here",
                "update the driver; some virtual GPUs lack it"},
    DriverFault{802, "CUDA_ERROR_SYSTEM_NOT_READY", "the system is not ready",
                "start nvidia-fabricmanager (NVSwitch machines) and wait until it is up"},
    DriverFault{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "the driver's library and kernel module differ in version",
                "an update is half done: reboot, or load the new module"},
    DriverFault{804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility is not for this GPU",
                "take the compat directory out of LD_LIBRARY_PATH, or update the driver"},
    DriverFault{805, "CUDA_ERROR_MPS_CONNECTION_FAILED", "the MPS server cannot be reached",
                "start nvidia-cuda-mps-control -d, or unset CUDA_MPS_PIPE_DIRECTORY"},
    DriverFault{806, "CUDA_ERROR_MPS_RPC_FAILURE", "the MPS server failed", "restart nvidia-cuda-mps-control"},
    DriverFault{807, "CUDA_ERROR_MPS_SERVER_NOT_READY", "the MPS server is not ready", "wait, then try again"},
    DriverFault{808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", "the MPS server has no room for another client",
                "end a client, then try again"},
};

}  // namespace

const DriverFault* find_fault(cuda::Result result) {
  for (const DriverFault& fault : kFaults) {
    if (fault.result == result) return &fault;
  }
  return nullptr;
}

}  // namespace kvfit::runtime
