// Files that are written for keeps: made new, never through a link, on disk before anybody is told. All failures are
// Error(Fault::environment) that name the file and, for a full disk, what is missing.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kvfit::carve {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

inline constexpr std::int64_t kDirectBlock = 4096;  ///< places, lengths and addresses of direct reads and writes

/// A new file that must not exist.
class NewFile {
 public:
  explicit NewFile(std::string path);
  int descriptor() const { return descriptor_.get(); }
  const std::string& path() const { return path_; }

  /// From now on whole blocks of aligned memory go around the page cache (O_DIRECT), unless the file system refuses.
  void go_direct();
  bool direct_refused() const { return direct_refused_; }

  void reserve(std::int64_t bytes) const;  ///< takes the space now; silently does nothing where that cannot be done
  void resize(std::int64_t bytes) const;
  void write(std::span<const char> bytes, std::int64_t offset) const;  ///< safe from several threads
  void sync() const;
  /// Onto disk, then under its name. A file of that name is replaced.
  void publish(const std::string& name);

 private:
  void write_cached(std::span<const char> bytes, std::int64_t offset) const;
  std::string path_;
  Descriptor descriptor_, direct_;
  mutable std::atomic<bool> direct_refused_ = false;
};

/// Directory entries onto disk.
void sync_directory(const std::string& path);

/// A whole text: temporary name beside it, sync, rename.
void write_whole(const std::string& path, std::string_view text);

/// Error (Fault::environment) from errno: "cannot VERB the file: No space left on device".
[[noreturn]] void fail_io(std::string_view verb, const std::string& path, int error);

}  // namespace kvfit::carve
