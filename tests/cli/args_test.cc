#include "cli/args.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "profiles/error.h"

namespace {

using namespace kvfit;
using namespace kvfit::cli;

Args parse(std::vector<std::string> words) { return parse_args(words); }

std::string complaint(std::vector<std::string> words) {
  try {
    (void)parse_args(words);
  } catch (const profiles::Error& error) {
    CHECK(error.fault() == profiles::Fault::input);
    return error.text();
  }
  return "no error";
}

}  // namespace

TEST_CASE("one name may take a value in one verb and none in another") {
  CHECK(parse_args(std::vector<std::string>{"carve", "run", "--keep", "128"}).text("keep") == "128");
  const Args calibrate = parse_args(std::vector<std::string>{"calibrate", "--keep", "boot.log"});
  CHECK(calibrate.toggle("keep") == true);
  CHECK(calibrate.words == std::vector<std::string>{"boot.log"});
}

TEST_CASE("flags may stand before and after the verb") {
  const Args args = parse({"--gpu", "rtx5090-24g", "explain", "kv.tokens", "--tp=2", "budget"});
  CHECK(args.verb == "explain");
  CHECK(args.words == std::vector<std::string>{"kv.tokens", "budget"});
  CHECK(args.text("gpu") == "rtx5090-24g");
  CHECK(args.integer("tp") == 2);
  CHECK_FALSE(args.has("pp"));
}

TEST_CASE("vLLM's own spellings mean the same flags") {
  const Args args = parse({"plan", "--gpu-memory-utilization", "0.9", "-tp", "4", "--pipeline-parallel-size=2", "-dcp=2",
                           "--enable-expert-parallel", "--no-enable-prefix-caching", "--language-model-only"});
  CHECK(args.number("util") == 0.9);
  CHECK(args.integer("tp") == 4);
  CHECK(args.integer("pp") == 2);
  CHECK(args.integer("dcp") == 2);
  CHECK(args.toggle("ep") == true);
  CHECK(args.text("prefix-caching") == "off");
  CHECK(args.text("vision") == "off");
}

TEST_CASE("--no-NAME switches a toggle off") {
  CHECK(parse({"plan", "--no-enforce-eager"}).toggle("enforce-eager") == false);
  CHECK(parse({"plan", "--enforce-eager"}).toggle("enforce-eager") == true);
  CHECK_FALSE(parse({"plan"}).toggle("enforce-eager").has_value());
}

TEST_CASE("a length may be left to the engine") {
  CHECK(parse({"plan", "--max-model-len", "auto"}).tokens("max-model-len") == -1);
  CHECK(parse({"plan", "--max-model-len", "-1"}).tokens("max-model-len") == -1);
}

TEST_CASE("what follows a lone -- is left alone") {
  const Args args = parse({"plan", "--gpu", "x", "--", "vllm", "serve", "--unknown"});
  CHECK(args.trailing == std::vector<std::string>{"vllm", "serve", "--unknown"});
}

TEST_CASE("-h is short help, --help full help, and both together full") {
  CHECK(parse({"plan", "-h"}).help == Args::Help::brief);
  CHECK(parse({"plan", "--help"}).help == Args::Help::full);
  CHECK(parse({"-h", "plan", "--help"}).help == Args::Help::full);
}

TEST_CASE("usage errors are one line and where to read on") {
  CHECK(complaint({"plan", "--gpux", "a"}) ==
        "error: unknown flag '--gpux'; did you mean '--gpu'?\n  help: see kvfit plan --help");
  CHECK(complaint({"plan", "--form", "json"}) ==
        "error: unknown flag '--form'; did you mean '--format'?\n  help: see kvfit plan --help");
  CHECK(complaint({"plann"}) == "error: unknown command 'plann'; did you mean 'plan'?\n  help: see kvfit --help");
  CHECK(complaint({"plan", "--gpu"}) == "error: --gpu needs a value\n  help: see kvfit plan --help");
  CHECK(complaint({"plan", "--gpu", "--tp", "2"}) == "error: --gpu needs a value\n  help: see kvfit plan --help");
  CHECK(complaint({"plan", "--ep=yes"}) == "error: --ep takes no value\n  help: see kvfit plan --help");
  CHECK(complaint({"schema", "--gpu", "x"}) ==
        "error: --gpu is not a flag of 'kvfit schema'\n  help: see kvfit schema --help");
}

TEST_CASE("a value that cannot be meant is refused with what would do") {
  CHECK(complaint({"plan", "--tp", "two"}) ==
        "error: --tp wants a whole number from 1 to 1024, not 'two'\n  help: see kvfit plan --help");
  CHECK(complaint({"plan", "--tp", "0"}) ==
        "error: --tp wants a whole number from 1 to 1024, not '0'\n  help: see kvfit plan --help");
  CHECK(complaint({"plan", "--tp", "99999999999999999999999"}) ==
        "error: --tp wants a whole number from 1 to 1024, not '99999999999999999999999'\n  help: see kvfit plan --help");
  CHECK(complaint({"plan", "--gpu-memory-utilization", "94"}) ==
        "error: --gpu-memory-utilization wants a number from 0.01 to 1, not '94'\n  help: see kvfit plan --help");
  CHECK(complaint({"plan", "--max-model-len", "-5"}) ==
        "error: --max-model-len wants a count such as 8192, 32K or 32k, or auto, not '-5'\n  help: see kvfit plan --help");
  CHECK(complaint({"plan", "-f", "xml"}) ==
        "error: -f wants one of table, json, yaml, markdown, not 'xml'\n  help: see kvfit plan --help");
  CHECK(complaint({"plan", "--model", ""}) ==
        "error: --model wants text that is not empty, not ''\n  help: see kvfit plan --help");
}

TEST_CASE("a flag given twice names both") {
  CHECK(complaint({"plan", "--tp", "2", "--tensor-parallel-size", "4"}) ==
        "error: --tp is given twice: --tp (2) and --tensor-parallel-size (4)\n  help: see kvfit plan --help");
  CHECK(complaint({"plan", "--tp", "2", "--tp", "2"}) == "error: --tp is given twice\n  help: see kvfit plan --help");
  CHECK(parse({"plan", "-o", "a", "-o", "json=b"}).texts("output") == std::vector<std::string>{"a", "json=b"});
}
