#include "runtime/flag_table.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/runtime/deployment_support.h"

namespace {

using namespace kvfit;

std::string fault(const std::string& flags) {
  try {
    const runtime::FlagTable table(profiles::parse_yaml(
        "id: x\nsource: y\nas_of: z\nconfig_file: {false_is_dropped_until: \"0.26\"}\nparsers: [\"0.7\"]\nflags:\n" + flags,
        "flags.yaml"));
  } catch (const profiles::Error& error) {
    return error.message();
  }
  return "no error";
}

}  // namespace

TEST_CASE("the built-in table is read and has no name twice") { CHECK(tests::vllm_flags().all().size() > 300); }

TEST_CASE("a beginning of a name counts only when one flag of that release has it") {
  const runtime::FlagTable& flags = tests::vllm_flags();
  const planner::Version version = planner::parse_version("0.24");
  CHECK(flags.find("--max-model", version).flag->name == "max-model-len");
  CHECK(flags.find("--max", version).flag == nullptr);
  CHECK(flags.find("--no-enable-prefix-caching", version).off);
  CHECK(flags.find("--no-headless", version).flag == nullptr);  // a plain switch has no opposite
}

TEST_CASE("from the first parser that was read to the last, a flag that no row has is refused; beyond nobody can tell") {
  const auto complete = [](const char* release) {
    return tests::vllm_flags().complete_for(planner::parse_version(release));
  };
  CHECK_FALSE(complete("0.6.6"));
  CHECK(complete("0.7.0"));
  CHECK(complete("0.19.1"));
  CHECK(complete("0.26.1"));
  CHECK_FALSE(complete("0.27.0"));
  CHECK_FALSE(complete("nightly"));
}

TEST_CASE("faults of a table are named") {
  CHECK(fault("  - {name: a, kind: text}\n") == "no error");
  CHECK(fault("  - {name: a, kind: txt}\n") == "unknown kind of flag 'txt'");
  CHECK(fault("  - {name: a, kind: text}\n  - {name: a, kind: on}\n") == "the flag 'a' stands twice");
  CHECK(fault("  - {name: a, kind: text, since: soon}\n") == "cannot read the release 'soon'");
}
