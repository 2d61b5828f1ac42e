#include "carve/source_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "profiles/error.h"
#include "profiles/units.h"

namespace kvfit::carve {
namespace {

[[noreturn]] void fail_shorter(const std::string& path) {
  profiles::fail_environment("the file became shorter while it was read", {.file = path});
}

}  // namespace

SourceReader::SourceReader(const Source& source, const std::vector<Run>& runs, bool direct) {
  for (const Run& run : runs) {
    if (files_.contains(run.shard)) continue;
    File file{.path = source.shards[static_cast<std::size_t>(run.shard)].path};
    file.cached = Descriptor(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.cached.get() < 0) fail_io("open", file.path, errno);
    ::posix_fadvise(file.cached.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    if (direct) {
      file.direct = Descriptor(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT));
      if (file.direct.get() < 0) refused_ = true;
    }
    files_.emplace(run.shard, std::move(file));
  }
}

void SourceReader::read_cached(const File& file, std::int64_t offset, std::span<char> out) {
  while (!out.empty()) {
    const ssize_t got = ::pread(file.cached.get(), out.data(), out.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_io("read", file.path, errno);
    if (got == 0) fail_shorter(file.path);
    out = out.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

void SourceReader::read(std::int32_t shard, std::int64_t offset, std::span<char> out, std::span<char> blocks) const {
  const File& file = files_.at(shard);
  while (!out.empty() && file.direct.get() >= 0 && !refused_) {
    const std::int64_t begin = offset / kDirectBlock * kDirectBlock;
    const std::int64_t skip = offset - begin;
    const std::int64_t whole = profiles::round_up(skip + static_cast<std::int64_t>(out.size()), kDirectBlock);
    const std::size_t asked = std::min(static_cast<std::size_t>(whole), blocks.size());
    const ssize_t got = ::pread(file.direct.get(), blocks.data(), asked, begin);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EINVAL) refused_ = true;
    if (got < 0 && errno != EINVAL) fail_io("read", file.path, errno);
    if (got < 0) break;
    if (got <= skip) fail_shorter(file.path);
    const std::size_t useful = std::min(static_cast<std::size_t>(got - skip), out.size());
    std::copy_n(blocks.begin() + skip, useful, out.begin());
    out = out.subspan(useful);
    offset += static_cast<std::int64_t>(useful);
  }
  read_cached(file, offset, out);
}

}  // namespace kvfit::carve
