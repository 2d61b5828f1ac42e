#include "carve/working_directory.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
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
  const fs::file_type there = fs::symlink_status(destination, error).type();
  if (there == fs::file_type::symlink) {
    fail_input("the destination is a link", {.file = destination}, "name a place that does not exist yet");
  }
  const fs::path to = fs::weakly_canonical(destination, error);
  const fs::path from = fs::weakly_canonical(source, error);
  if (lies_inside(to, from) || lies_inside(from, to)) {
    fail_input("the destination and the source lie inside each other", {.file = destination}, "name a directory beside it");
  }
  if (there != fs::file_type::not_found) {
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

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// What a run leaves that was killed between publishing and cleaning up.
void remove_remains(const std::string& destination, const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(destination, error))) return;
  if (!fs::is_directory(fs::symlink_status(path, error))) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    if (name != ".lock" && name != "state.json" && name != "parts") return;
  }
  fs::remove_all(path, error);
}

std::string absolute(const std::string& destination) {
  return without_slashes(fs::absolute(destination).lexically_normal().string());
}

void make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) fail_io("create", path, errno);
}

}  // namespace

WorkingDirectory::WorkingDirectory(const std::string& destination, const std::string& source, bool restart, bool shared)
    : destination_(absolute(destination)), path_(destination_ + ".kvfit-tmp"), shared_(shared) {
  remove_remains(destination_, path_);
  check_places(destination_, source);
  make_directory(path_);
  struct stat status = {};
  if (::lstat(path_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    fail_input("this is in the way: not a directory", {.file = path_}, "remove it");
  }
  lock(shared);
  check_places(destination_, source);  // nobody has published since
  if (restart) wipe();
  make_directory(files());
  make_directory(path_ + "/parts");
}

// The lock counts only while it is the file of that name: whoever held it before may have taken the directory away.
void WorkingDirectory::lock(bool shared) {
  const std::string path = path_ + "/.lock";
  lock_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (lock_.get() < 0) fail_io("create", path, errno);
  const bool held = ::flock(lock_.get(), (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0;
  if (!held && errno != EWOULDBLOCK) fail_io("lock", path, errno);
  struct stat mine = {};
  struct stat there = {};
  if (held && ::fstat(lock_.get(), &mine) == 0 && ::stat(path.c_str(), &there) == 0 && mine.st_ino == there.st_ino) return;
  lock_ = Descriptor();
  fail_environment("another carve is working in this directory", {.file = path_}, "wait for it, or stop it");
}

WorkingDirectory::~WorkingDirectory() {
  std::error_code ignored;
  if (!shared_ && lock_.get() >= 0 && !fs::exists(state_path(), ignored)) fs::remove_all(path_, ignored);
}

std::string WorkingDirectory::receipt(std::size_t part) const { return format("{}/parts/{}.json", path_, part); }

std::string WorkingDirectory::hashes(const std::string& output) const { return format("{}/parts/{}.xxh3", path_, output); }

std::optional<std::string> WorkingDirectory::state() const {
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(state_path(), ignored))) return std::nullopt;
  return profiles::read_text_file(state_path());
}

void WorkingDirectory::save_state(const std::string& text) const {
  write_whole(state_path(), text);
  sync_directory(path_);
}

void WorkingDirectory::publish() {
  for (const fs::directory_entry& entry : fs::directory_iterator(files())) {
    std::error_code error;
    if (entry.path().extension() == ".part") fs::remove(entry.path(), error);  // of a run that was killed
    if (error) fail_io("remove", entry.path().string(), error.value());
  }
  sync_directory(files());
  rename_new(files(), destination_);
  sync_directory(destination_);
  sync_directory(fs::path(destination_).parent_path().string());
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  lock_ = Descriptor();
}

void WorkingDirectory::wipe() const {
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    std::error_code error;
    if (entry.path().filename() != ".lock") fs::remove_all(entry.path(), error);
    if (error) fail_io("remove", entry.path().string(), error.value());
  }
  make_directory(files());
  make_directory(path_ + "/parts");
}

}  // namespace kvfit::carve
