#include "carve/file_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

constexpr mode_t kMode = 0644;

int open_new(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
  if (fd < 0) fail_io("create", path, errno);
  return fd;
}

}  // namespace

void fail_io(std::string_view verb, const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  profiles::fail_environment(profiles::format("cannot {} the file: {}", verb, std::strerror(error)), {.file = path},
                             full ? "make room and run the same command again: it goes on where it stopped" : "");
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

NewFile::NewFile(std::string path) : path_(std::move(path)), descriptor_(open_new(path_)) {}

void NewFile::reserve(std::int64_t bytes) const {
  if (bytes <= 0) return;
  const int error = ::fallocate(descriptor_.get(), 0, 0, bytes) == 0 ? 0 : errno;
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) fail_io("make room for", path_, error);
}

void NewFile::resize(std::int64_t bytes) const {
  if (::ftruncate(descriptor_.get(), bytes) != 0) fail_io("size", path_, errno);
}

void NewFile::go_direct() {
  direct_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_DIRECT));
  direct_refused_ = direct_.get() < 0;
}

void NewFile::write(std::span<const char> bytes, std::int64_t offset) const {
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % kDirectBlock == 0 && offset % kDirectBlock == 0;
  while (aligned && direct_.get() >= 0 && !direct_refused_ && bytes.size() >= kDirectBlock && offset % kDirectBlock == 0) {
    const ssize_t put = ::pwrite(direct_.get(), bytes.data(), bytes.size() / kDirectBlock * kDirectBlock, offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EINVAL) direct_refused_ = true;
    if (put < 0 && errno != EINVAL) fail_io("write", path_, errno);
    if (put <= 0) break;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += put;
  }
  write_cached(bytes, offset);
}

void NewFile::write_cached(std::span<const char> bytes, std::int64_t offset) const {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor_.get(), bytes.data(), bytes.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail_io("write", path_, put == 0 ? EIO : errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += put;
  }
}

void NewFile::sync() const {
  if (::fsync(descriptor_.get()) != 0) fail_io("write", path_, errno);
}

void NewFile::publish(const std::string& name) {
  sync();
  if (::rename(path_.c_str(), name.c_str()) != 0) fail_io("rename", path_, errno);
  path_ = name;
}

void sync_directory(const std::string& path) {
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot sync a directory (EINVAL); the rename itself has been asked for all the same.
  if (directory.get() < 0 || (::fsync(directory.get()) != 0 && errno != EINVAL)) fail_io("write", path, errno);
}

void write_whole(const std::string& path, std::string_view text) {
  // Parts of a job may write the same file at once, from several hosts too: each has a temporary name of its own.
  NewFile file(profiles::format("{}.{:08x}.part", path, std::random_device{}()));
  file.write(std::span(text.data(), text.size()), 0);
  file.publish(path);
}

}  // namespace kvfit::carve
