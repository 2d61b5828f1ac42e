#include "profiles/error.h"

#include <doctest/doctest.h>

#include <string>

namespace kvfit::profiles {
namespace {

TEST_CASE("an error says what, where, the line with a caret, and how to mend it") {
  const Error error(
      Fault::input, "unknown KV cache type 'fp8_e4m2'",
      {.file = "serve.yaml", .line = 7, .column = 17, .key = "kv-cache-dtype", .excerpt = "kv-cache-dtype: fp8_e4m2"},
      "did you mean 'fp8_e4m3'?");
  CHECK(error.text() == R"(error: unknown KV cache type 'fp8_e4m2'
  --> serve.yaml:7:17  (kv-cache-dtype)
 7 | kv-cache-dtype: fp8_e4m2
   |                 ^
  help: did you mean 'fp8_e4m3'?)");
  CHECK(std::string(error.what()) == error.text());
}

TEST_CASE("parts of a place that are not known are left out") {
  CHECK(Error(Fault::input, "no input").text() == "error: no input");
  CHECK(Error(Fault::input, "bad", {.file = "a.json", .line = 0, .column = 0, .key = {}, .excerpt = {}}).text() ==
        "error: bad\n  --> a.json");
  CHECK(Error(Fault::input, "bad", {.file = {}, .line = 3, .column = 0, .key = "x", .excerpt = {}}).text() ==
        "error: bad\n  --> <input>:3  (x)");
  CHECK(Error(Fault::environment, "disk full", {}, "free 3 GiB").text() == "error: disk full\n  help: free 3 GiB");
}

TEST_CASE("the caret counts characters, not bytes") {
  // "ä" and "€" are 2 and 3 bytes; the value starts at byte 10, character 7.
  const Error error(Fault::input, "bad", {.file = "f", .line = 1, .column = 10, .key = {}, .excerpt = "ä: '€', x"});
  CHECK(error.text() == "error: bad\n  --> f:1:10\n 1 | ä: '€', x\n   |       ^");
}

TEST_CASE("a column behind the line puts the caret at its end") {
  const Error error(Fault::input, "bad", {.file = "f", .line = 1, .column = 400, .key = {}, .excerpt = "abc"});
  CHECK(error.text() == "error: bad\n  --> f:1:400\n 1 | abc\n   |    ^");
}

TEST_CASE("a long line is cut to 72 characters around the column") {
  const std::string line = std::string(100, 'a') + "X" + std::string(100, 'b');
  const Error error(Fault::input, "bad", {.file = "f", .line = 12, .column = 101, .key = {}, .excerpt = line});
  CHECK(error.text() == "error: bad\n  --> f:12:101\n 12 | " + std::string(36, 'a') + "X" + std::string(35, 'b') +
                            "\n    | " + std::string(36, ' ') + "^");
}

TEST_CASE("nothing that an input holds can command the terminal") {
  const Error error(Fault::input, "unknown key '\x1b[31m'",
                    {.file = "f", .line = 1, .column = 2, .key = "\x07", .excerpt = "\t\x1b[2J"});
  CHECK(error.text() == "error: unknown key '?[31m'\n  --> f:1:2  (?)\n 1 |  ?[2J\n   |  ^");
}

TEST_CASE("the fault is the exit code") {
  CHECK(static_cast<int>(Fault::input) == 2);
  CHECK(static_cast<int>(Fault::environment) == 4);
  CHECK(static_cast<int>(Fault::bug) == 70);
  CHECK(static_cast<int>(Fault::interrupted) == 130);
}

}  // namespace
}  // namespace kvfit::profiles
