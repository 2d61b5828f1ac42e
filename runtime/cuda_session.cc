#include "runtime/cuda_session.h"

#include <utility>

namespace kvfit::runtime {

CudaSession::CudaSession(const CudaDriver& driver, const CudaDevice& device) : driver_(driver), device_(device.handle) {
  cuda::Context context = nullptr;
  driver_.check(driver_.call().cuDevicePrimaryCtxRetain(&context, device_), "cuDevicePrimaryCtxRetain");
  held_ = true;
  const cuda::Result current = driver_.call().cuCtxSetCurrent(context);
  if (current == cuda::kSuccess) return;
  driver_.call().cuDevicePrimaryCtxRelease_v2(device_);
  driver_.check(current, "cuCtxSetCurrent");
}

CudaSession::~CudaSession() {
  if (held_) driver_.call().cuDevicePrimaryCtxRelease_v2(device_);
}

MemoryInfo CudaSession::memory() const {
  std::size_t free = 0, total = 0;
  driver_.check(driver_.call().cuMemGetInfo_v2(&free, &total), "cuMemGetInfo_v2");
  return {Bytes(static_cast<std::int64_t>(free)), Bytes(static_cast<std::int64_t>(total))};
}

void CudaSession::end() {
  if (!std::exchange(held_, false)) return;
  note_release(driver_.call().cuDevicePrimaryCtxRelease_v2(device_), "cuDevicePrimaryCtxRelease_v2");
  driver_.check(release_result_, release_call_);
}

void CudaSession::note_release(cuda::Result result, const char* call) {
  if (result == cuda::kSuccess || release_result_ != cuda::kSuccess) return;
  release_result_ = result;
  release_call_ = call;
}

DeviceMemory::DeviceMemory(CudaSession& session, std::size_t bytes) : session_(&session), size_(bytes) {
  const CudaDriver& driver = session.driver();
  const cuda::Result result = driver.call().cuMemAlloc_v2(&pointer_, bytes);
  if (result == cuda::kSuccess) return;
  pointer_ = 0;
  size_ = 0;
  if (result != cuda::kOutOfMemory) driver.check(result, "cuMemAlloc_v2");
}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  if (this == &other) return *this;
  release();
  session_ = other.session_;
  pointer_ = std::exchange(other.pointer_, 0);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

void DeviceMemory::release() {
  if (pointer_ == 0) return;
  session_->note_release(session_->driver().call().cuMemFree_v2(std::exchange(pointer_, 0)), "cuMemFree_v2");
  size_ = 0;
}

PinnedMemory::PinnedMemory(CudaSession& session, std::size_t bytes) : session_(session), size_(bytes) {
  session.driver().check(session.driver().call().cuMemAllocHost_v2(&pointer_, bytes), "cuMemAllocHost_v2");
}

PinnedMemory::~PinnedMemory() { session_.note_release(session_.driver().call().cuMemFreeHost(pointer_), "cuMemFreeHost"); }

CudaStream::CudaStream(CudaSession& session) : session_(session) {
  constexpr unsigned kDefault = 0;  // in step with the synchronous calls, which set and read results
  session.driver().check(session.driver().call().cuStreamCreate(&stream_, kDefault), "cuStreamCreate");
}

CudaStream::~CudaStream() {
  session_.note_release(session_.driver().call().cuStreamDestroy_v2(stream_), "cuStreamDestroy_v2");
}

void CudaStream::copy_to_device(cuda::DevicePointer to, const void* from, std::size_t bytes) {
  const CudaDriver& driver = session_.driver();
  driver.check(driver.call().cuMemcpyHtoDAsync_v2(to, from, bytes, stream_), "cuMemcpyHtoDAsync_v2");
}

void CudaStream::wait() {
  session_.driver().check(session_.driver().call().cuStreamSynchronize(stream_), "cuStreamSynchronize");
}

void set_bytes(const CudaSession& session, cuda::DevicePointer at, unsigned char value, std::size_t bytes) {
  session.driver().check(session.driver().call().cuMemsetD8_v2(at, value, bytes), "cuMemsetD8_v2");
}

void copy_from_device(const CudaSession& session, void* to, cuda::DevicePointer from, std::size_t bytes) {
  session.driver().check(session.driver().call().cuMemcpyDtoH_v2(to, from, bytes), "cuMemcpyDtoH_v2");
}

}  // namespace kvfit::runtime
