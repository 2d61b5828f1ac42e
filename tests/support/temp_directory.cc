#include "tests/support/temp_directory.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace kvfit::tests {

TempDirectory::TempDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "kvfit-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary directory");
  path_ = pattern;
}

}  // namespace kvfit::tests
