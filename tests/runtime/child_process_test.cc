#include "runtime/child_process.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace kvfit::runtime {
namespace {

TEST_CASE("a program's output and exit status come back") {
  const Finished finished = run_to_end({.arguments = {"sh", "-c", "echo out; echo err >&2; exit 3"}, .environment = {}}, 30);
  CHECK(finished.output == "out\nerr\n");
  CHECK(finished.status == 3);
  CHECK_FALSE(finished.timed_out);
}

TEST_CASE("what cannot be started has exit status 127, as in a shell") {
  CHECK(run_to_end({.arguments = {"no-such-program-of-kvfit"}, .environment = {}}, 30).status == 127);
}

TEST_CASE("given variables replace kvfit's own, the others are kept") {
  ::setenv("KVFIT_TEST_KEPT", "kept", 1);
  ::setenv("KVFIT_TEST_REPLACED", "old", 1);
  const ChildOptions options{.arguments = {"sh", "-c", "echo $KVFIT_TEST_KEPT $KVFIT_TEST_REPLACED"},
                             .environment = {"KVFIT_TEST_REPLACED=new"}};
  CHECK(run_to_end(options, 30).output == "kept new\n");
}

TEST_CASE("a program that takes too long is ended, and so is everything it started") {
  const Finished finished = run_to_end({.arguments = {"sh", "-c", "sleep 600 & echo $!; wait"}, .environment = {}}, 0.5);
  CHECK(finished.timed_out);
  const pid_t grandchild = static_cast<pid_t>(std::strtol(finished.output.c_str(), nullptr, 10));
  REQUIRE(grandchild > 0);
  // Nobody waits for it but init, which may take a moment.
  bool gone = false;
  for (int i = 0; i < 200 && !gone; ++i) {
    gone = ::kill(grandchild, 0) != 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (!gone) {
    // A zombie that no init collects still answers; what counts is that it does not run.
    const Finished state = run_to_end(
        {.arguments = {"sh", "-c", "cut -d' ' -f3 /proc/" + std::to_string(grandchild) + "/stat"}, .environment = {}}, 30);
    CHECK(state.output == "Z\n");
  }
}

TEST_CASE("a program that ignores SIGTERM is killed") {
  ChildProcess child({.arguments = {"sh", "-c", "trap '' TERM; echo on; while :; do sleep 0.05; done"}, .environment = {}});
  std::string out;
  while (out.find("on\n") == std::string::npos) {
    child.read_into(out);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  child.end(0.2);
  CHECK(child.poll_exit() == 128 + SIGKILL);
}

}  // namespace
}  // namespace kvfit::runtime
