#include "carve/file_writer.h"

#include <doctest/doctest.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "profiles/document.h"
#include "tests/support/temp_directory.h"

namespace kvfit::carve {
namespace {

TEST_CASE("writers of one file at the same time all succeed, and one of their texts is left whole") {
  const tests::TempDirectory directory;
  const std::string path = directory / "state.json";
  const std::string text(4096, 'x');
  std::atomic<int> failures = 0;
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        try {
          write_whole(path, text);
        } catch (const std::exception&) {
          ++failures;
        }
      }
    });
  }
  writers.clear();
  CHECK(failures == 0);
  CHECK(profiles::read_text_file(path) == text);
  int files = 0;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(directory.path())) {
    (void)entry;
    ++files;
  }
  CHECK(files == 1);  // no temporary name is left
}

}  // namespace
}  // namespace kvfit::carve
