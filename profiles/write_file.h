// Writing a file so that it appears whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace kvfit::profiles {

/// Writes all of `text` to an open descriptor, through short writes and EINTR; 0, or the errno of the failure.
int write_all(int descriptor, std::string_view text);

/// Puts the text into the file as a whole or not at all: temporary name beside it, fsync, rename. SIGINT and SIGTERM wait
/// until the temporary name is gone. A device or a pipe is written to as it is. Throws Error(Fault::environment).
void write_file(const std::string& path, std::string_view text);

}  // namespace kvfit::profiles
