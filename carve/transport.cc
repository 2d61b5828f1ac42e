#include "carve/transport.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "carve/source_reader.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::carve {
namespace {

// The part of a run that can be shared; bytes = 0 when it is not worth it.
Run shareable(const Run& run) {
  if (run.table >= 0 || run.bytes < kWorthSharing || (run.source - run.target) % kShareBlock != 0) return {};
  const std::int64_t skip = (kShareBlock - run.source % kShareBlock) % kShareBlock;
  const std::int64_t bytes = (run.bytes - skip) / kShareBlock * kShareBlock;
  return {run.source + skip, run.target + skip, bytes, run.shard};
}

bool share_range(int source, int target, const Run& run) {
  file_clone_range range{};
  range.src_fd = source;
  range.src_offset = static_cast<__u64>(run.source);
  range.src_length = static_cast<__u64>(run.bytes);
  range.dest_offset = static_cast<__u64>(run.target);
  return ::ioctl(target, FICLONERANGE, &range) == 0;
}

// Fills pieces of the output until none is left or somebody failed. Pieces are read and written side by side, and hashed one
// after the other: a tensor's hash needs its bytes in order.
class Copier {
 public:
  Copier(const OutputShard& shard, const SourceReader& source, const NewFile& file, const CopyBuffers& buffers,
         const TransportOptions& options)
      : shard_(shard),
        source_(source),
        file_(file),
        buffers_(buffers),
        options_(options),
        pieces_(profiles::cdiv(shard.bytes, buffers.piece_bytes())),
        hasher_(static_cast<std::int64_t>(shard.head.size()), shard.ends) {}

  std::vector<TensorHash> run() {
    const int threads = static_cast<int>(std::clamp<std::int64_t>(pieces_, 1, buffers_.threads()));
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back([this, i] { work(i); });
    work(0);
    for (std::thread& other : others) other.join();
    if (failure_) std::rethrow_exception(failure_);
    return hasher_.finish();
  }

 private:
  void work(int thread) {
    try {
      for (std::int64_t i = next_++; i < pieces_ && !stopped_; i = next_++) piece(i, thread);
    } catch (...) {
      const std::lock_guard hold(lock_);
      if (!failure_) failure_ = std::current_exception();
      stopped_ = true;
      turn_changed_.notify_all();
    }
  }

  void piece(std::int64_t index, int thread) {
    const std::int64_t begin = index * buffers_.piece_bytes();
    const std::int64_t end = std::min(begin + buffers_.piece_bytes(), shard_.bytes);
    const std::span<char> bytes = buffers_.piece(thread).first(static_cast<std::size_t>(end - begin));
    fill(begin, bytes, buffers_.blocks(thread));
    if (!hash(index, begin, bytes)) return;
    file_.write(bytes, begin);
    // Starts writing it out now, so that the last sync has little left to wait for.
    ::sync_file_range(file_.descriptor(), begin, end - begin, SYNC_FILE_RANGE_WRITE);
    const std::lock_guard hold(lock_);
    if (options_.progress) options_.progress(end - begin);
  }

  // Bytes of the output from `begin` on: the head's, then those of runs.
  void fill(std::int64_t begin, std::span<char> out, std::span<char> blocks) const {
    const std::int64_t end = begin + static_cast<std::int64_t>(out.size());
    const std::int64_t head = std::min(static_cast<std::int64_t>(shard_.head.size()), end);
    if (begin < head) std::copy(shard_.head.begin() + begin, shard_.head.begin() + head, out.begin());
    const auto after = std::upper_bound(shard_.runs.begin(), shard_.runs.end(), begin,
                                        [](std::int64_t at, const Run& run) { return at < run.target; });
    for (auto run = after == shard_.runs.begin() ? after : after - 1; run != shard_.runs.end() && run->target < end; ++run) {
      const std::int64_t from = std::max(begin, run->target);
      const std::int64_t to = std::min(end, run->target + run->bytes);
      source_.read(run->shard, run->source + from - run->target,
                   out.subspan(static_cast<std::size_t>(from - begin), static_cast<std::size_t>(to - from)), blocks);
    }
  }

  // When it is this piece's turn; false when somebody failed before.
  bool hash(std::int64_t index, std::int64_t begin, std::span<const char> bytes) {
    {
      std::unique_lock hold(lock_);
      turn_changed_.wait(hold, [this, index] { return turn_ == index || stopped_; });
      if (stopped_) return false;
    }
    const std::int64_t head = static_cast<std::int64_t>(shard_.head.size());
    const std::int64_t skip = std::clamp<std::int64_t>(head - begin, 0, static_cast<std::int64_t>(bytes.size()));
    hasher_.add(bytes.subspan(static_cast<std::size_t>(skip)));
    const std::lock_guard hold(lock_);
    ++turn_;
    turn_changed_.notify_all();
    return true;
  }

  const OutputShard& shard_;
  const SourceReader& source_;
  const NewFile& file_;
  const CopyBuffers& buffers_;
  const TransportOptions& options_;
  std::int64_t pieces_;
  TensorHasher hasher_;  // of whoever's turn it is
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex lock_;
  std::condition_variable turn_changed_;
  std::int64_t turn_ = 0;
  std::exception_ptr failure_;
};

void copy_range(const SourceReader& source, const NewFile& file, const CopyBuffers& buffers, Run run) {
  while (run.bytes > 0) {
    const std::int64_t size = std::min(run.bytes, buffers.piece_bytes());
    const std::span<char> piece = buffers.piece(0).first(static_cast<std::size_t>(size));
    source.read(run.shard, run.source, piece, buffers.blocks(0));
    file.write(piece, run.target);
    run = {run.source + size, run.target + size, run.bytes - size, run.shard};
  }
}

void share_runs(const OutputShard& shard, const SourceReader& source, const NewFile& file, const CopyBuffers& buffers,
                const TransportOptions& options) {
  file.resize(shard.bytes);
  for (const Run& run : shard.runs) {
    const Run middle = shareable(run);
    if (middle.bytes > 0 && share_range(source.descriptor(run.shard), file.descriptor(), middle)) {
      copy_range(source, file, buffers, {run.source, run.target, middle.source - run.source, run.shard});
      const std::int64_t done = middle.source + middle.bytes - run.source;
      copy_range(source, file, buffers, {run.source + done, run.target + done, run.bytes - done, run.shard});
    } else {
      copy_range(source, file, buffers, run);
    }
    if (options.progress) options.progress(run.bytes);
  }
  file.write(shard.head, 0);
  if (options.progress) options.progress(static_cast<std::int64_t>(shard.head.size()));
}

// Over the source's rows, which were copied like all bytes.
void rewrite_table(const Run& run, const ExpertTable& table, const SourceReader& source, const NewFile& file,
                   const CopyBuffers& buffers) {
  std::vector<char> rows;
  const std::int64_t step = table.piece_bytes();
  for (std::int64_t at = 0; at < run.bytes; at += step) {
    rows.resize(static_cast<std::size_t>(std::min(step, run.bytes - at)));
    source.read(run.shard, run.source + at, rows, buffers.blocks(0));
    table.rewrite(rows);
    file.write(rows, run.target + at);
  }
}

}  // namespace

std::int64_t bytes_to_write(const OutputShard& shard, bool share) {
  std::int64_t out = shard.bytes;
  for (const Run& run : shard.runs) out -= share ? shareable(run).bytes : 0;
  return out;
}

bool can_share(const std::string& source, const std::string& directory) {
  const std::string scratch = profiles::format("{}/.share-probe.{}.part", directory, ::getpid());
  ::unlink(scratch.c_str());
  const Descriptor from(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
  const NewFile to(scratch);
  ::unlink(scratch.c_str());
  const bool shared = from.get() >= 0 && share_range(from.get(), to.descriptor(), {0, 0, kShareBlock});
  return shared;
}

Written write_shard(const OutputShard& shard, const Source& source, NewFile& file, const CopyBuffers& buffers,
                    const TransportOptions& options) {
  const SourceReader from(source, shard.runs, options.direct && !options.share);
  Written out;
  if (options.share) {
    share_runs(shard, from, file, buffers, options);
  } else {
    file.reserve(shard.bytes);
    if (options.direct) file.go_direct();
    out.hashes = Copier(shard, from, file, buffers, options).run();
  }
  for (const Run& run : shard.runs) {
    if (run.table < 0) continue;
    rewrite_table(run, options.tables->at(run.table), from, file, buffers);
    out.hashes.clear();
  }
  out.direct_refused = from.refused() || file.direct_refused();
  return out;
}

}  // namespace kvfit::carve
