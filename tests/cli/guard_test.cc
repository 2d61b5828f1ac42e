#include "cli/guard.h"

#include <doctest/doctest.h>

#include <new>
#include <stdexcept>
#include <string>

#include "cli/version.h"
#include "profiles/error.h"

namespace {

using namespace kvfit;

struct Ended {
  int code;
  std::string text;
};

Ended end_of(const std::function<int()>& body) {
  std::string text;
  const int code = cli::guarded(body, [&text](const std::string& said) { text = said; });
  return {code, text};
}

}  // namespace

TEST_CASE("a command's own code passes through") {
  CHECK(end_of([] { return 3; }).code == 3);
}

TEST_CASE("unusable input exits 2, a failing environment 4, and both say what is wrong") {
  const Ended input = end_of([]() -> int { profiles::fail_input("no such thing", {}, "try another"); });
  CHECK(input.code == 2);
  CHECK(input.text == "error: no such thing\n  help: try another");
  const Ended environment = end_of([]() -> int { profiles::fail_environment("disk full"); });
  CHECK(environment.code == 4);
  CHECK(environment.text == "error: disk full");
}

TEST_CASE("no memory is the environment's fault") {
  const Ended ended = end_of([]() -> int { throw std::bad_alloc(); });
  CHECK(ended.code == 4);
  CHECK(ended.text == "error: out of memory");
}

TEST_CASE("anything unforeseen is a bug: exit 70, the version, and the request to report it") {
  const Ended ended = end_of([]() -> int { throw std::logic_error("ledger does not sum"); });
  CHECK(ended.code == 70);
  CHECK(ended.text == "error: this is a bug in kvfit " + std::string(cli::version_number()) +
                          ": ledger does not sum\n  help: please report it with the command line and the files it read");
}

TEST_CASE("a reader that went away is nobody's fault") {
  const Ended ended = end_of([]() -> int { throw cli::BrokenPipe{}; });
  CHECK(ended.code == 0);
  CHECK(ended.text.empty());
}
