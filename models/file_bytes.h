// A regular file opened for reading pieces of it. Closes itself; never writes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kvfit::models {

class FileBytes {
 public:
  /// Error (Fault::input) when the path does not exist or is no regular file; Fault::environment when it cannot be opened.
  explicit FileBytes(const std::string& path);
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes();

  std::int64_t size() const { return size_; }  ///< when it was opened
  /// Fills `out` from `offset`; Error when the file ends before (it shrank) or cannot be read.
  void read(std::span<char> out, std::int64_t offset) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

}  // namespace kvfit::models
