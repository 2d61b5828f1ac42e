#include "runtime/correction_store.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "profiles/error.h"
#include "tests/support/temp_directory.h"

namespace kvfit::runtime {
namespace {

using planner::Correction;
using planner::Quantity;
using profiles::Bytes;

const CorrectionKey kKey{.gpu = "h100-sxm", .model = "llama-3.1-8b", .engine = "vllm", .engine_version = "0.19.0"};

TEST_CASE("what was stored for a key is found again, and only for that key") {
  const tests::TempDirectory directory;
  const std::string path = directory / "share/kvfit/corrections.json";
  CHECK(find_corrections(path, kKey).empty());
  const std::vector<Correction> learnt = {
      {.quantity = Quantity::weights, .difference = Bytes(-1048576), .error = Bytes(10737418), .source = "boot log line 4"}};
  store_corrections(path, kKey, learnt);
  const std::vector<Correction> found = find_corrections(path, kKey);
  REQUIRE(found.size() == 1);
  CHECK(found[0].quantity == Quantity::weights);
  CHECK(found[0].difference == Bytes(-1048576));
  CHECK(found[0].source == "boot log line 4");
  CorrectionKey other = kKey;
  other.tensor_parallel_size = 2;
  CHECK(find_corrections(path, other).empty());
}

TEST_CASE("storing again replaces one key and keeps the others; storing nothing forgets it") {
  const tests::TempDirectory directory;
  const std::string path = directory / "corrections.json";
  CorrectionKey other = kKey;
  other.gpu = "l4";
  const auto one = [](std::int64_t n) {
    return std::vector<Correction>{{.quantity = Quantity::graphs, .difference = Bytes(n), .error = Bytes(1), .source = "a"}};
  };
  store_corrections(path, kKey, one(1));
  store_corrections(path, other, one(2));
  store_corrections(path, kKey, one(3));
  CHECK(find_corrections(path, kKey)[0].difference == Bytes(3));
  CHECK(find_corrections(path, other)[0].difference == Bytes(2));
  store_corrections(path, kKey, {});
  CHECK(find_corrections(path, kKey).empty());
  CHECK(find_corrections(path, other).size() == 1);
}

TEST_CASE("a broken file is an error that says where, and is left as it was") {
  const tests::TempDirectory directory;
  const std::string path = directory / "corrections.json";
  std::ofstream(path) << R"({"schema": "kvfit.corrections", "boots": [{"gpu": 5}]})";
  try {
    store_corrections(path, kKey, {});
    FAIL("no error");
  } catch (const profiles::Error& error) {
    CHECK(error.message() == "expected text, found a whole number");
    CHECK(error.where().key == "boots[0].gpu");
  }
}

}  // namespace
}  // namespace kvfit::runtime
