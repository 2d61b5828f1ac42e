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
#include <utility>
#include <vector>

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

namespace {

// Temporary files of one set: what is still there at the end is taken away.
class Partials {
 public:
  Partials() = default;
  ~Partials() {
    for (const auto& [partial, path] : made_) ::unlink(partial.c_str());
  }
  Partials(const Partials&) = delete;
  Partials& operator=(const Partials&) = delete;

  void write(const std::string& path, std::string_view text) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) cannot(path, EISDIR);
    const std::string partial = format("{}.{}.kvfit-tmp", path, ::getpid());
    const int descriptor = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (descriptor < 0) cannot(path, errno);
    made_.emplace_back(partial, path);
    int failed = write_all(descriptor, text);
    if (failed == 0 && ::fsync(descriptor) != 0 && errno != EINVAL) failed = errno;
    if (::close(descriptor) != 0 && failed == 0) failed = errno;
    if (failed != 0) cannot(path, failed);
  }

  void publish() {
    while (!made_.empty()) {
      const auto& [partial, path] = made_.back();
      if (std::rename(partial.c_str(), path.c_str()) != 0) cannot(path, errno);
      made_.pop_back();
    }
  }

 private:
  [[noreturn]] static void cannot(const std::string& path, int error) {
    fail_environment(format("cannot write '{}': {}", path, std::strerror(error)));
  }

  std::vector<std::pair<std::string, std::string>> made_;  ///< temporary name, name
};

}  // namespace

void write_files(const std::vector<FileText>& files) {
  {
    const Undisturbed undisturbed;
    Partials partials;
    for (const FileText& file : files) {
      if (!is_special(file.path)) partials.write(file.path, file.text);
    }
    partials.publish();
  }
  for (const FileText& file : files) {
    if (is_special(file.path)) write_special(file.path, file.text);
  }
}

void write_file(const std::string& path, std::string_view text) { write_files({{path, std::string(text)}}); }

}  // namespace kvfit::profiles
