#include "carve/copy_buffers.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "carve/file_writer.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::carve {
namespace {

using profiles::kMiB;

constexpr std::int64_t kLargestPiece = 8 * kMiB;
constexpr std::int64_t kGoodPiece = kMiB;  // below, fewer threads do better
constexpr std::int64_t kLeastPiece = kMiB / 4;
constexpr std::int64_t kScoringPieces = 8 * kMiB;  // of scoring and checking, which hold two pieces of 4 MiB
constexpr std::int64_t kRest = 4 * kMiB;           // stacks, texts, code that has not run yet
constexpr std::int64_t kUsual = 60 * kMiB;         // what the program stays below where headers leave the room

std::int64_t mebibytes(std::int64_t bytes) { return profiles::cdiv(bytes, kMiB); }

[[noreturn]] void fail_cap(std::int64_t cap, std::int64_t used, std::int64_t least) {
  profiles::fail_input(
      profiles::format("--memory: {} MiB are too few: kvfit itself and the headers of this checkpoint take {} MiB",
                       cap / kMiB, mebibytes(used)),
      {}, profiles::format("--memory {}MiB or more", mebibytes(used + least)));
}

int wanted_threads(const BufferOptions& options) {
  if (options.threads > 0) return options.threads;
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 2, 4);
}

}  // namespace

std::int64_t peak_resident_bytes() {
  constexpr std::string_view kKey = "VmHWM:";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(kKey)) continue;
    const std::size_t digits = line.find_first_of("0123456789");
    std::int64_t kib = 0;
    if (digits != line.npos) std::from_chars(line.data() + digits, line.data() + line.size(), kib);
    return kib * 1024;
  }
  return 0;
}

void check_memory(const BufferOptions& options) {
  if (options.memory <= 0) return;
  const std::int64_t used = peak_resident_bytes();
  const std::int64_t least = kRest + kScoringPieces + kLeastPiece * (options.direct ? 2 : 1);
  if (used + least > options.memory) fail_cap(options.memory, used, least);
}

CopyBuffers::CopyBuffers(const BufferOptions& options) : direct_(options.direct) {
  const std::int64_t per_thread = direct_ ? 2 : 1;
  std::int64_t threads = wanted_threads(options);
  const bool capped = options.memory > 0;
  const std::int64_t used = peak_resident_bytes();
  std::int64_t room = (capped ? options.memory : kUsual) - used - kRest;
  if (capped && room < kLeastPiece * per_thread) fail_cap(options.memory, used, kRest + kLeastPiece * per_thread);
  if (!capped) room = std::max(room, kGoodPiece * threads * per_thread);
  threads = std::clamp<std::int64_t>(room / (kGoodPiece * per_thread), 1, threads);
  const std::uint64_t share = static_cast<std::uint64_t>(room / (threads * per_thread));
  piece_ = std::min(kLargestPiece, static_cast<std::int64_t>(std::bit_floor(share)));
  for (std::int64_t i = 0; i < threads; ++i) {
    const std::size_t bytes = static_cast<std::size_t>(piece_ * per_thread);
    buffers_.emplace_back(static_cast<char*>(::operator new[](bytes, std::align_val_t{kDirectBlock})));
  }
}

void CopyBuffers::Free::operator()(char* bytes) const { ::operator delete[](bytes, std::align_val_t{kDirectBlock}); }

std::span<char> CopyBuffers::piece(int thread) const {
  return {buffers_[static_cast<std::size_t>(thread)].get(), static_cast<std::size_t>(piece_)};
}

std::span<char> CopyBuffers::blocks(int thread) const {
  if (!direct_) return {};
  return {buffers_[static_cast<std::size_t>(thread)].get() + piece_, static_cast<std::size_t>(piece_)};
}

}  // namespace kvfit::carve
