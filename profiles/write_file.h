// Writing a file so that it appears whole or not at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kvfit::profiles {

/// Writes all of `text` to an open descriptor, through short writes and EINTR; 0, or the errno of the failure.
int write_all(int descriptor, std::string_view text);

struct FileText {
  std::string path, text;
};

/// Puts the texts into their files, all of them or none, each as a whole: temporary names beside them, fsync, then renames.
/// SIGINT and SIGTERM wait until the temporary names are gone. A device or a pipe is written to as it is, after the files.
/// Throws Error(Fault::environment).
void write_files(const std::vector<FileText>& files);
void write_file(const std::string& path, std::string_view text);

}  // namespace kvfit::profiles
