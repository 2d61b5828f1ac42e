#include "profiles/spelling.h"

#include <doctest/doctest.h>

namespace kvfit::profiles {
namespace {

TEST_CASE("lower touches ASCII letters only") { CHECK(lower("NVIDIA-H100_Ä9") == "nvidia-h100_Ä9"); }

TEST_CASE("split leaves empty parts out") {
  CHECK(split("a|b", '|') == std::vector<std::string>{"a", "b"});
  CHECK(split("|a||b|", '|') == std::vector<std::string>{"a", "b"});
  CHECK(split("", '|').empty());
}

TEST_CASE("one_of asks for the whole word") {
  CHECK(one_of({"api-key", "hf-token"}, "hf-token"));
  CHECK_FALSE(one_of({"api-key"}, "api"));
}

TEST_CASE("a quoted word may hold quotes") { CHECK(single_quoted("it's $HOME") == "'it'\\''s $HOME'"); }

}  // namespace
}  // namespace kvfit::profiles
