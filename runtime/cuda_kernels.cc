#include "runtime/cuda_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "profiles/error.h"
#include "profiles/text.h"
#include "runtime/kernel_math.h"
#include "runtime/kernels.h"

namespace kvfit::runtime {
namespace {

// What the driver's compiler had to say, shortened to its first lines.
std::string compiler_words(const std::array<char, 2048>& log) {
  std::string out(log.data());
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
  return out;
}

}  // namespace

CudaKernels::CudaKernels(CudaSession& session) : session_(session) {
  // CUjit_option: the error log's buffer and its size.
  constexpr int kErrorLogBuffer = 5, kErrorLogSize = 6;
  std::array<char, 2048> log{};
  std::array<int, 2> options = {kErrorLogBuffer, kErrorLogSize};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  const CudaDriver& driver = session.driver();
  const cuda::Result loaded = driver.call().cuModuleLoadDataEx(
      &module_, kernels_ptx(), static_cast<unsigned>(options.size()), options.data(), values.data());
  if (const std::string words = compiler_words(log); loaded != cuda::kSuccess && !words.empty()) {
    profiles::fail_environment(profiles::format("the driver cannot compile kvfit's kernels ({}): {}", loaded, words), {},
                               "they need compute capability 8.0 and a driver of CUDA 11.0 or newer");
  }
  driver.check(loaded, "cuModuleLoadDataEx");
  try {
    fill_ = function("kvfit_fill");
    verify_ = function("kvfit_verify");
    hash_ = function("kvfit_hash");
    gemv_ = function("kvfit_gemv_nvfp4");
    results_ = DeviceMemory(session, kResultBytes);
  } catch (...) {
    driver.call().cuModuleUnload(module_);
    throw;
  }
}

CudaKernels::~CudaKernels() {
  results_.release();
  session_.note_release(session_.driver().call().cuModuleUnload(module_), "cuModuleUnload");
}

cuda::Function CudaKernels::function(const char* name) const {
  cuda::Function out = nullptr;
  session_.driver().check(session_.driver().call().cuModuleGetFunction(&out, module_, name), "cuModuleGetFunction");
  return out;
}

void CudaKernels::launch(CudaStream& stream, cuda::Function function, unsigned blocks, void** arguments) {
  const CudaDriver& driver = session_.driver();
  driver.check(
      driver.call().cuLaunchKernel(function, blocks, 1, 1, kBlockThreads, 1, 1, 0, stream.handle(), arguments, nullptr),
      "cuLaunchKernel");
}

void CudaKernels::fill(CudaStream& stream, cuda::DevicePointer region, std::uint64_t from, std::uint64_t words,
                       std::uint64_t first) {
  region += from * 8;
  first += from * kPatternStep;
  std::uint64_t step = kPatternStep;
  std::array<void*, 4> arguments = {&region, &words, &first, &step};
  launch(stream, fill_, blocks_for(words, 2), arguments.data());
}

void CudaKernels::clear_results() { set_bytes(session_, results_.pointer(), 0, kResultBytes); }

void CudaKernels::verify(CudaStream& stream, cuda::DevicePointer region, std::uint64_t from, std::uint64_t words,
                         std::uint64_t first) {
  region += from * 8;
  first += from * kPatternStep;
  std::uint64_t step = kPatternStep;
  cuda::DevicePointer results = results_.pointer();
  std::array<void*, 6> arguments = {&region, &words, &first, &step, &from, &results};
  launch(stream, verify_, blocks_for(words, 2), arguments.data());
}

Verified CudaKernels::verified(CudaStream& stream) {
  stream.wait();
  std::vector<std::uint64_t> words(kMostBlocks * kResultWords);
  copy_from_device(session_, words.data(), results_.pointer(), kResultBytes);
  Verified out{.first = ~std::uint64_t{0}};
  for (std::size_t block = 0; block < kMostBlocks; ++block) {
    const std::uint64_t* found = &words[block * kResultWords];
    out.sum += found[0];
    out.mismatches += found[1];
    // Results start at 0, so the kernel keeps the complement's largest: see kernels.ptx.
    if (found[1] > 0) out.first = std::min(out.first, ~found[2]);
  }
  return out;
}

void CudaKernels::hash(CudaStream& stream, cuda::DevicePointer region, std::uint64_t words, std::uint64_t base) {
  cuda::DevicePointer results = results_.pointer();
  std::array<void*, 4> arguments = {&region, &words, &base, &results};
  launch(stream, hash_, blocks_for(words, 1), arguments.data());
}

std::uint64_t CudaKernels::hashed(CudaStream& stream) {
  stream.wait();
  std::vector<std::uint64_t> words(kMostBlocks);
  copy_from_device(session_, words.data(), results_.pointer(), kMostBlocks * 8);
  std::uint64_t out = 0;
  for (const std::uint64_t word : words) out += word;
  return out;
}

void CudaKernels::gemv_nvfp4(CudaStream& stream, cuda::DevicePointer weights, cuda::DevicePointer scales,
                             cuda::DevicePointer inputs, cuda::DevicePointer outputs, std::uint32_t rows,
                             std::uint32_t columns, float global) {
  std::array<void*, 7> arguments = {&weights, &scales, &inputs, &outputs, &rows, &columns, &global};
  launch(stream, gemv_, blocks_for(rows, 1), arguments.data());
}

}  // namespace kvfit::runtime
