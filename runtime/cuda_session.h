// Work on one device: a context, its memory, its kernels. Everything taken is given back by the destructors, in reverse
// order, whatever failed in between.
//
// A call that fails throws Error(Fault::environment), except an allocation that finds no memory, which is an answer. A
// release that fails is remembered (release_fault) and the rest is still released; ending the context then takes it back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "profiles/units.h"
#include "runtime/cuda_device.h"
#include "runtime/cuda_driver.h"

namespace kvfit::runtime {

struct MemoryInfo {
  Bytes free, total;
};

class CudaSession {
 public:
  /// Takes the device's primary context: from here on its cost counts as used memory.
  CudaSession(const CudaDriver& driver, const CudaDevice& device);
  CudaSession(const CudaSession&) = delete;
  CudaSession& operator=(const CudaSession&) = delete;
  ~CudaSession();

  const CudaDriver& driver() const { return driver_; }
  MemoryInfo memory() const;

  /// Gives the context back; a second call does nothing. Throws when this or any release before it failed.
  void end();
  /// Notes a failed release of something the session owned.
  void note_release(cuda::Result result, const char* call);

 private:
  const CudaDriver& driver_;
  cuda::DeviceHandle device_;
  bool held_ = false;
  cuda::Result release_result_ = cuda::kSuccess;
  const char* release_call_ = "";
};

/// Device memory; empty() when there was none to be had.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(CudaSession& session, std::size_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept { *this = static_cast<DeviceMemory&&>(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory() { release(); }

  bool empty() const { return pointer_ == 0; }
  cuda::DevicePointer pointer() const { return pointer_; }
  std::size_t size() const { return size_; }
  void release();

 private:
  CudaSession* session_ = nullptr;
  cuda::DevicePointer pointer_ = 0;
  std::size_t size_ = 0;
};

/// Host memory that the device copies from at full speed.
class PinnedMemory {
 public:
  PinnedMemory(CudaSession& session, std::size_t bytes);
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory();

  char* data() const { return static_cast<char*>(pointer_); }
  std::size_t size() const { return size_; }

 private:
  CudaSession& session_;
  void* pointer_ = nullptr;
  std::size_t size_ = 0;
};

/// A queue of work on the device.
class CudaStream {
 public:
  explicit CudaStream(CudaSession& session);
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream();

  void copy_to_device(cuda::DevicePointer to, const void* from, std::size_t bytes);
  void wait();  ///< until all work so far is done
  cuda::Stream handle() const { return stream_; }

 private:
  CudaSession& session_;
  cuda::Stream stream_ = nullptr;
};

void set_bytes(const CudaSession& session, cuda::DevicePointer at, unsigned char value, std::size_t bytes);
void copy_from_device(const CudaSession& session, void* to, cuda::DevicePointer from, std::size_t bytes);

}  // namespace kvfit::runtime
