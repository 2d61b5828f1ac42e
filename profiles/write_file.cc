#include "profiles/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::profiles {
namespace {

// Holds SIGINT and SIGTERM back for its lifetime.
class Undisturbed {
 public:
  Undisturbed() {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &held, &before_);
  }
  ~Undisturbed() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  sigset_t before_{};
};

// A device or a pipe: renaming a file over it would take it away from everybody (root can do that to /dev/null).
bool is_special(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 &&
         (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISBLK(status.st_mode));
}

void write_special(const std::string& path, std::string_view text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  int failed = descriptor < 0 ? errno : write_all(descriptor, text);
  if (descriptor >= 0 && ::close(descriptor) != 0 && failed == 0) failed = errno;
  if (failed != 0) fail_environment(format("cannot write '{}': {}", path, std::strerror(failed)));
}

}  // namespace

int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(descriptor, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

void write_file(const std::string& path, std::string_view text) {
  if (is_special(path)) return write_special(path, text);
  const Undisturbed undisturbed;
  const std::string partial = format("{}.{}.kvfit-tmp", path, ::getpid());
  const int descriptor = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0) fail_environment(format("cannot write '{}': {}", path, std::strerror(errno)));
  int failed = write_all(descriptor, text);
  if (failed == 0 && ::fsync(descriptor) != 0 && errno != EINVAL) failed = errno;
  if (::close(descriptor) != 0 && failed == 0) failed = errno;
  if (failed == 0 && std::rename(partial.c_str(), path.c_str()) != 0) failed = errno;
  if (failed == 0) return;
  ::unlink(partial.c_str());
  fail_environment(format("cannot write '{}': {}", path, std::strerror(failed)));
}

}  // namespace kvfit::profiles
