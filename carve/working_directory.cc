#include "carve/working_directory.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

namespace fs = std::filesystem;
using profiles::fail_environment;
using profiles::fail_input;
using profiles::format;

bool lies_inside(const fs::path& inner, const fs::path& outer) {
  const auto [end, ignored] = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  return end == outer.end();
}

void check_places(const std::string& destination, const std::string& source) {
  std::error_code error;
  const fs::path parent = fs::path(destination).parent_path();
  if (!fs::is_directory(parent, error)) {
    fail_input("the directory that the destination shall lie in does not exist", {.file = parent.string()});
  }
  const fs::path to = fs::weakly_canonical(destination, error);
  const fs::path from = fs::weakly_canonical(source, error);
  if (lies_inside(to, from) || lies_inside(from, to)) {
    fail_input("the destination and the source lie inside each other", {.file = destination}, "name a directory beside it");
  }
  if (fs::symlink_status(destination, error).type() != fs::file_type::not_found) {
    fail_input("the destination exists", {.file = destination}, "a finished carve is never overwritten; name another place");
  }
}

// Never across a link, never on top of anything.
void rename_new(const std::string& from, const std::string& to) {
  if (::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return;
  int error = errno;
  if (error == EINVAL || error == ENOSYS) {  // a file system without the flag
    std::error_code ignored;
    error = fs::symlink_status(to, ignored).type() != fs::file_type::not_found ? EEXIST
            : ::rename(from.c_str(), to.c_str()) == 0                          ? 0
                                                                               : errno;
  }
  if (error != 0) fail_io("publish", to, error);
}

void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail_io("remove", path, errno);
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

std::string working_path(const std::string& destination) {
  return without_slashes(fs::absolute(destination).lexically_normal().string()) + ".kvfit-tmp";
}

WorkingDirectory::WorkingDirectory(const std::string& destination, const std::string& source, bool restart, bool shared)
    : destination_(without_slashes(fs::absolute(destination).lexically_normal().string())),
      path_(working_path(destination)) {
  check_places(destination_, source);
  if (::mkdir(path_.c_str(), 0755) != 0 && errno != EEXIST) fail_io("create", path_, errno);
  struct stat status = {};
  if (::lstat(path_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    fail_input("this is in the way: not a directory", {.file = path_}, "remove it");
  }
  const std::string lock = path_ + "/.lock";
  lock_ = Descriptor(::open(lock.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (lock_.get() < 0) fail_io("create", lock, errno);
  if (::flock(lock_.get(), (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) fail_io("lock", lock, errno);
    fail_environment("another carve is working in this directory", {.file = path_}, "wait for it, or stop it");
  }
  if (restart) wipe();
}

std::optional<std::string> WorkingDirectory::state() const {
  const std::string path = path_ + "/state.json";
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(path, ignored))) return std::nullopt;
  return profiles::read_text_file(path);
}

void WorkingDirectory::save_state(const std::string& text) const {
  write_whole(path_ + "/state.json", text);
  sync_directory(path_);
}

// The state goes first: without it what lies here would be begun again, so no stale shard can be taken for a finished one.
void WorkingDirectory::publish() {
  remove_file(path_ + "/state.json");
  std::error_code ignored;
  fs::remove_all(path_ + "/parts", ignored);
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    if (entry.path().extension() == ".part") remove_file(entry.path().string());  // of a run that was killed
  }
  remove_file(path_ + "/.lock");  // still held: a run killed from here on leaves nothing of its own in what it published
  sync_directory(path_);
  rename_new(path_, destination_);
  sync_directory(destination_);
  sync_directory(fs::path(destination_).parent_path().string());
}

void WorkingDirectory::wipe() const {
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    std::error_code error;
    if (entry.path().filename() != ".lock") fs::remove_all(entry.path(), error);
    if (error) fail_io("remove", entry.path().string(), error.value());
  }
}

}  // namespace kvfit::carve
