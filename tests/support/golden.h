// Expected outputs as files. KVFIT_UPDATE_GOLDEN=1 rewrites them; read the difference before you commit it.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace kvfit::tests {

/// `found` is the text of tests/golden/NAME (tests run in the source root).
inline void check_golden(const std::string& name, const std::string& found) {
  const std::string path = "tests/golden/" + name;
  const char* update = std::getenv("KVFIT_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") std::ofstream(path, std::ios::binary) << found;
  std::ifstream in(path, std::ios::binary);
  std::stringstream expected;
  expected << in.rdbuf();
  CAPTURE(name);
  CHECK(found == expected.str());
}

}  // namespace kvfit::tests
