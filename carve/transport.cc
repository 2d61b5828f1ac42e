#include "carve/transport.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::carve {
namespace {

constexpr std::int64_t kPiece = 8 * profiles::kMiB;

void read_all(int fd, std::span<char> out, std::int64_t offset, const std::string& path) {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd, out.data(), out.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_io("read", path, errno);
    if (got == 0) profiles::fail_environment("the file became shorter while it was read", {.file = path});
    out = out.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

// The part of a run that can be shared; bytes = 0 when it is not worth it.
Run shareable(const Run& run) {
  if (run.table >= 0 || run.bytes < kWorthSharing || (run.source - run.target) % kShareBlock != 0) return {};
  const std::int64_t skip = (kShareBlock - run.source % kShareBlock) % kShareBlock;
  const std::int64_t bytes = (run.bytes - skip) / kShareBlock * kShareBlock;
  return {run.source + skip, run.target + skip, bytes};
}

bool share_range(int source, int target, const Run& run) {
  file_clone_range range{};
  range.src_fd = source;
  range.src_offset = static_cast<__u64>(run.source);
  range.src_length = static_cast<__u64>(run.bytes);
  range.dest_offset = static_cast<__u64>(run.target);
  return ::ioctl(target, FICLONERANGE, &range) == 0;
}

// Fills pieces of the output until none is left or somebody failed.
class Copier {
 public:
  Copier(const OutputShard& shard, const std::string& path, int source, const NewFile& file, const TransportOptions& options)
      : shard_(shard), path_(path), source_(source), file_(file), options_(options) {}

  void run() {
    const std::int64_t begin = static_cast<std::int64_t>(shard_.head.size());
    pieces_ = profiles::cdiv(shard_.bytes - begin, kPiece);
    const int threads = static_cast<int>(std::clamp<std::int64_t>(pieces_, 1, std::max(1, options_.threads)));
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back([this] { work(); });
    work();
    for (std::thread& other : others) other.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void work() {
    try {
      std::vector<char> buffer(static_cast<std::size_t>(std::min(kPiece, shard_.bytes)));
      for (std::int64_t i = next_++; i < pieces_ && !stopped_; i = next_++) piece(i, buffer);
    } catch (...) {
      const std::lock_guard hold(lock_);
      if (!failure_) failure_ = std::current_exception();
      stopped_ = true;
    }
  }

  void piece(std::int64_t index, std::vector<char>& buffer) {
    const std::int64_t begin = static_cast<std::int64_t>(shard_.head.size()) + index * kPiece;
    const std::int64_t end = std::min(begin + kPiece, shard_.bytes);
    const auto after = std::upper_bound(shard_.runs.begin(), shard_.runs.end(), begin,
                                        [](std::int64_t at, const Run& run) { return at < run.target; });
    for (auto run = after - 1; run != shard_.runs.end() && run->target < end; ++run) {
      const std::int64_t from = std::max(begin, run->target);
      const std::int64_t to = std::min(end, run->target + run->bytes);
      read_all(source_,
               std::span(buffer).subspan(static_cast<std::size_t>(from - begin), static_cast<std::size_t>(to - from)),
               run->source + from - run->target, path_);
    }
    file_.write(std::span(buffer).first(static_cast<std::size_t>(end - begin)), begin);
    // Starts writing it out now, so that the last sync has little left to wait for.
    ::sync_file_range(file_.descriptor(), begin, end - begin, SYNC_FILE_RANGE_WRITE);
    const std::lock_guard hold(lock_);
    if (options_.progress) options_.progress(end - begin);
  }

  const OutputShard& shard_;
  const std::string& path_;
  int source_;
  const NewFile& file_;
  const TransportOptions& options_;
  std::int64_t pieces_ = 0;
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex lock_;
  std::exception_ptr failure_;
};

void copy_range(int source, const std::string& path, const NewFile& file, Run run) {
  std::vector<char> buffer(static_cast<std::size_t>(std::min(run.bytes, kPiece)));
  while (run.bytes > 0) {
    const std::int64_t size = std::min(run.bytes, kPiece);
    const std::span<char> piece = std::span(buffer).first(static_cast<std::size_t>(size));
    read_all(source, piece, run.source, path);
    file.write(piece, run.target);
    run = {run.source + size, run.target + size, run.bytes - size};
  }
}

void share_runs(const OutputShard& shard, int source, const std::string& path, const NewFile& file,
                const TransportOptions& options) {
  file.resize(shard.bytes);
  for (const Run& run : shard.runs) {
    const Run middle = shareable(run);
    if (middle.bytes > 0 && share_range(source, file.descriptor(), middle)) {
      copy_range(source, path, file, {run.source, run.target, middle.source - run.source});
      const std::int64_t done = middle.source + middle.bytes - run.source;
      copy_range(source, path, file, {run.source + done, run.target + done, run.bytes - done});
    } else {
      copy_range(source, path, file, run);
    }
    if (options.progress) options.progress(run.bytes);
  }
}

// Over the source's rows, which were copied like all bytes.
void rewrite_table(const Run& run, const ExpertTable& table, int source, const std::string& path, const NewFile& file) {
  std::vector<char> rows;
  const std::int64_t step = table.piece_bytes();
  for (std::int64_t at = 0; at < run.bytes; at += step) {
    rows.resize(static_cast<std::size_t>(std::min(step, run.bytes - at)));
    read_all(source, rows, run.source + at, path);
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

void write_shard(const OutputShard& shard, const std::string& source, const NewFile& file, const TransportOptions& options) {
  const Descriptor from(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
  if (from.get() < 0) fail_io("open", source, errno);
  ::posix_fadvise(from.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  if (options.share) {
    share_runs(shard, from.get(), source, file, options);
  } else {
    file.reserve(shard.bytes);
    Copier(shard, source, from.get(), file, options).run();
  }
  for (const Run& run : shard.runs) {
    if (run.table >= 0) rewrite_table(run, options.tables->at(run.table), from.get(), source, file);
  }
  file.write(shard.head, 0);
}

}  // namespace kvfit::carve
