#include "profiles/write_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <iterator>
#include <string>

#include "profiles/document.h"
#include "profiles/error.h"
#include "tests/support/temp_directory.h"

namespace kvfit::profiles {

namespace fs = std::filesystem;

TEST_CASE("a file is replaced as a whole, and nothing else stays beside it") {
  const tests::TempDirectory place;
  const std::string path = (place.path() / "plan.json").string();
  write_file(path, "old and long\n");
  write_file(path, "new\n");
  CHECK(read_text_file(path) == "new\n");
  CHECK(std::distance(fs::directory_iterator(place.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("a pipe is written to and stays a pipe") {
  const tests::TempDirectory place;
  const std::string path = (place.path() / "pipe").string();
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  write_file(path, "text");
  std::array<char, 16> seen{};
  CHECK(::read(reader, seen.data(), seen.size()) == 4);
  CHECK(std::string(seen.data()) == "text");
  ::close(reader);
  CHECK(fs::is_fifo(path));
}

TEST_CASE("a directory that does not exist is named") {
  const tests::TempDirectory place;
  const std::string path = (place.path() / "no" / "plan.json").string();
  CHECK_THROWS_WITH_AS(write_file(path, ""), ("error: cannot write '" + path + "': No such file or directory").c_str(),
                       Error);
}

}  // namespace kvfit::profiles
