#include "models/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::format;

[[noreturn]] void fail_open(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR || error == ELOOP) {
    profiles::fail_input(format("cannot open the file: {}", std::strerror(error)), {.file = path});
  }
  profiles::fail_environment(format("cannot open the file: {}", std::strerror(error)), {.file = path});
}

}  // namespace

FileBytes::FileBytes(const std::string& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0) fail_open(path, errno);
  struct stat status = {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    profiles::fail_input("not a regular file", {.file = path});
  }
  size_ = status.st_size;
}

FileBytes::~FileBytes() { ::close(descriptor_); }

void FileBytes::read(std::span<char> out, std::int64_t offset) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor_, out.data(), out.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) profiles::fail_environment(format("cannot read the file: {}", std::strerror(errno)), {.file = path_});
    if (got == 0) profiles::fail_input("the file became shorter while it was read", {.file = path_});
    out = out.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

}  // namespace kvfit::models
