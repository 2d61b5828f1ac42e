#include "runtime/boot_test.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>

#include "runtime/cuda_kernels.h"
#include "runtime/cuda_session.h"
#include "runtime/kernel_math.h"
#include "runtime/stopwatch.h"

namespace kvfit::runtime {
namespace {

using profiles::kGiB;
using profiles::kMiB;

constexpr std::uint64_t kLaunchWords = 256 * kMiB / 8;  // 50 ms where 5 GB/s are left of a spill
constexpr std::uint64_t kPieceWords = kGiB / 8;         // timed as one
constexpr std::int64_t kTimedAtLeast = 256 * kMiB;      // smaller ones measure the launch, not the memory
constexpr double kSlowPiece = 0.5;                      // of what it should be: worth another try
constexpr int kMostTries = 5;
constexpr double kTellsSpill = 0.01;   // seconds: 256 MiB in host memory take longer, a delay of the host mostly does not
constexpr double kBeyondDelays = 0.1;  // seconds: what takes longer was not merely delayed
constexpr std::int64_t kSmallestPart = 16 * kMiB;
// Page tables and the driver's own needs for the host side of unified memory.
constexpr std::int64_t kHostReserve = kGiB;

struct Held {
  std::size_t index;  ///< into the plan's entries
  DeviceMemory memory;
  std::uint64_t words() const { return memory.size() / 8; }
};

// Of the pieces that were timed; bytes per second.
struct Speed {
  std::uint64_t words = 0;
  double seconds = 0, fastest = 0, slowest = 0;
  double rate_since(const Speed& before) const {
    return seconds > before.seconds ? static_cast<double>((words - before.words) * 8) / (seconds - before.seconds) : 0;
  }
};

class BootTest {
 public:
  BootTest(CudaSession& session, const BootPlan& plan, BootMeasurement& out, const BootProgress& progress)
      : session_(session), plan_(plan), out_(out), progress_(progress) {}

  void run(const BootOptions& options);

 private:
  void allocate(CudaKernels& kernels, CudaStream& stream);
  bool take(std::size_t index, Bytes bytes);
  void measure_refusal(MeasuredEntry& entry);
  void time_piece(CudaStream& stream, std::uint64_t words, Speed& speed, const std::function<void()>& work);
  void fill(CudaKernels& kernels, CudaStream& stream, const Held& held);
  void read_piece(CudaKernels& kernels, CudaStream& stream, const Held& held, std::uint64_t piece, std::uint64_t end);
  void verify(CudaKernels& kernels, CudaStream& stream, const Held& held);
  void hold(double seconds);

  CudaSession& session_;
  const BootPlan& plan_;
  BootMeasurement& out_;
  const BootProgress& progress_;
  std::vector<Held> held_;
  Speed write_, read_;
};

void BootTest::run(const BootOptions& options) {
  CudaStream stream(session_);
  CudaKernels kernels(session_);
  if (kernels.ready()) {
    allocate(kernels, stream);
    progress_("reading back", Bytes(0), out_.held);
    Bytes done;
    for (const Held& held : held_) {
      verify(kernels, stream, held);
      progress_("reading back", done += out_.entries[held.index].obtained, out_.held);
    }
    hold(options.hold_seconds);
  } else {
    out_.entries.front().state = EntryState::refused;
  }
  while (!held_.empty()) held_.pop_back();  // in reverse order
  out_.write_rate = write_.rate_since({});
  out_.read_rate = read_.rate_since({});
  out_.slowest_write = write_.slowest;
}

void BootTest::allocate(CudaKernels& kernels, CudaStream& stream) {
  for (std::size_t i = 0; i < plan_.entries.size(); ++i) {
    progress_("writing", out_.held, plan_.sum());
    const Bytes bytes = plan_.entries[i].bytes;
    const Bytes room = out_.cap ? *out_.cap - out_.held : bytes;
    if (room.count > 0 && take(i, std::min(room, bytes))) fill(kernels, stream, held_.back());
    if (out_.entries[i].state == EntryState::refused) break;
    if (bytes <= room) continue;
    for (std::size_t j = i; j < plan_.entries.size(); ++j) out_.entries[j].state = EntryState::capped;
    break;
  }
  out_.free_when_full = session_.memory().free;
}

bool BootTest::take(std::size_t index, Bytes bytes) {
  DeviceMemory memory(session_, static_cast<std::size_t>(profiles::round_up(bytes.count, 16)));
  MeasuredEntry& entry = out_.entries[index];
  if (memory.empty()) {
    entry.state = EntryState::refused;
    measure_refusal(entry);
    return false;
  }
  entry.state = EntryState::held;
  entry.obtained = bytes;
  out_.held += bytes;
  held_.push_back({index, std::move(memory)});
  return true;
}

// How much of the entry could be had: parts of half the size each time one is refused.
void BootTest::measure_refusal(MeasuredEntry& entry) {
  std::vector<DeviceMemory> parts;
  std::int64_t part = entry.entry.bytes.count / 2;
  while (part >= kSmallestPart) {
    DeviceMemory memory(session_, static_cast<std::size_t>(part));
    if (memory.empty() || entry.obtained.count + part > entry.entry.bytes.count) {
      part /= 2;
    } else {
      entry.obtained += Bytes(part);
      parts.push_back(std::move(memory));
    }
  }
  while (!parts.empty()) parts.pop_back();
}

// Runs `work`, over one piece, until its end; pieces large enough to time are run again, and the best time counts: what
// another process on the host delays is fast the next time, memory that spilled stays slow.
void BootTest::time_piece(CudaStream& stream, std::uint64_t words, Speed& speed, const std::function<void()>& work) {
  const bool timed = static_cast<std::int64_t>(words * 8) >= kTimedAtLeast;
  double best = 0;
  for (int tries = 0; tries < (timed ? kMostTries : 1); ++tries) {
    const Stopwatch watch;
    work();
    stream.wait();
    const double seconds = std::max(watch.seconds(), 1e-9);
    best = tries == 0 ? seconds : std::min(best, seconds);
    const double rate = static_cast<double>(words * 8) / best;
    if (best > kBeyondDelays || (tries > 0 && rate > std::max(speed.fastest, plan_.bandwidth) * kSlowPiece)) break;
  }
  if (!timed) return;
  const double rate = static_cast<double>(words * 8) / best;
  speed.words += words;
  speed.seconds += best;
  speed.fastest = std::max(speed.fastest, rate);
  if (best > kTellsSpill) speed.slowest = speed.slowest == 0 ? rate : std::min(speed.slowest, rate);
}

void BootTest::fill(CudaKernels& kernels, CudaStream& stream, const Held& held) {
  const std::uint64_t first = pattern_first(held.index);
  const Speed before = write_;
  for (std::uint64_t piece = 0; piece < held.words(); piece += kPieceWords) {
    const std::uint64_t end = std::min(held.words(), piece + kPieceWords);
    time_piece(stream, end - piece, write_, [&] {
      for (std::uint64_t at = piece; at < end; at += kLaunchWords) {
        kernels.fill(stream, held.memory.pointer(), at, std::min(kLaunchWords, end - at), first);
      }
    });
  }
  out_.entries[held.index].write_rate = write_.rate_since(before);
}

void BootTest::read_piece(CudaKernels& kernels, CudaStream& stream, const Held& held, std::uint64_t piece,
                          std::uint64_t end) {
  for (std::uint64_t at = piece; at < end; at += kLaunchWords) {
    kernels.verify(stream, held.memory.pointer(), at, std::min(kLaunchWords, end - at), pattern_first(held.index));
  }
}

// First for the time, with results that are thrown away, then once for the results.
void BootTest::verify(CudaKernels& kernels, CudaStream& stream, const Held& held) {
  MeasuredEntry& entry = out_.entries[held.index];
  const Speed before = read_;
  for (std::uint64_t piece = 0; piece < held.words(); piece += kPieceWords) {
    const std::uint64_t end = std::min(held.words(), piece + kPieceWords);
    time_piece(stream, end - piece, read_, [&] { read_piece(kernels, stream, held, piece, end); });
  }
  entry.read_rate = read_.rate_since(before);
  kernels.clear_results();
  read_piece(kernels, stream, held, 0, held.words());
  const Verified found = kernels.verified(stream);
  const std::uint64_t wanted = pattern_sum(pattern_first(held.index), kPatternStep, held.words());
  if (found.sum == wanted && found.mismatches == 0) return;
  entry.state = EntryState::damaged;
  entry.mismatches = std::max<std::uint64_t>(1, found.mismatches);
  entry.first_bad = Bytes(found.mismatches == 0 ? 0 : static_cast<std::int64_t>(found.first * 8));
}

void BootTest::hold(double seconds) {
  const Stopwatch watch;
  while (watch.seconds() < seconds) {
    progress_("holding", out_.held, out_.held);  // which may ask to stop
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(0.05, seconds)));
  }
  out_.held_seconds = watch.seconds();
}

void set_cap(const BootOptions& options, BootMeasurement& out) {
  if (options.limit) {
    out.cap = options.limit;
    out.cap_reason = "--limit";
  }
  if (!out.device.unified || !options.memory_available) return;
  const Bytes most = std::max(Bytes(0), *options.memory_available - Bytes(kHostReserve));
  if (out.cap && *out.cap <= most) return;
  out.cap = most;
  out.cap_reason = "MemAvailable";
}

}  // namespace

BootMeasurement run_boot_test(const CudaDriver& driver, const CudaDevice& device, const BootPlan& plan,
                              const BootOptions& options, const BootProgress& progress) {
  BootMeasurement out{.device = device};
  for (const BootEntry& entry : plan.entries) out.entries.push_back({.entry = entry});
  set_cap(options, out);
  CudaSession session(driver, device);
  const MemoryInfo start = session.memory();
  out.total = start.total;
  out.free_at_start = start.free;
  BootTest(session, plan, out, progress).run(options);
  out.free_at_end = session.memory().free;
  session.end();
  return out;
}

}  // namespace kvfit::runtime
