#include "hardware/node.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>

#include "hardware/gpu_catalog.h"

namespace kvfit::hardware {
namespace {

Node node_of(const char* id, System system) {
  Node out;
  out.gpu = load_gpu(profiles::Catalog(), id);
  out.system = system;
  return out;
}

ByteRange random_range(std::mt19937_64& random, std::int64_t least, std::int64_t most) {
  std::uniform_int_distribution<std::int64_t> pick(least, most);
  std::int64_t values[3] = {pick(random), pick(random), pick(random)};
  std::sort(std::begin(values), std::end(values));
  return {Bytes(values[0]), Bytes(values[1]), Bytes(values[2])};
}

TEST_CASE("native Linux: free is the total less context and idle use") {
  // rtx5090-32g: 32117 - 512 - 2 = 31603 MiB likely = 30.86 GiB, as vLLM printed; 32106-535-15 and 32128-500-0 at the ends.
  const ByteRange free = free_at_start(node_of("rtx5090-32g", System::linux_native));
  CHECK(free.low == profiles::mib(31556));
  CHECK(free.likely == profiles::mib(31603));
  CHECK(free.high == profiles::mib(31628));
}

TEST_CASE("a 24 GB laptop under WSL2 passes the start check at 0.94 and fails it at 0.95") {
  // noonghunna/club-3090 docs/HARDWARE.md: 0.95 needs 22.70 GiB and is refused, 0.944 boots; total 23.89 GiB = 24463 MiB.
  const Node laptop = node_of("rtx5090-24g", System::wsl2);
  const double total = static_cast<double>(total_memory(laptop).likely.count);
  const ByteRange free = free_at_start(laptop);
  CHECK(static_cast<double>(free.low.count) >= 0.944 * total);
  CHECK(static_cast<double>(free.high.count) < 0.95 * total);
}

TEST_CASE("a 32 GB desktop card under WSL2 passes at 0.93 and fails at 0.95") {
  // cognithor PR#318: 30.12 of 31.84 GiB free; 0.95 misses by 0.13 GiB, 0.93 boots.
  const Node desktop = node_of("rtx5090-32g", System::wsl2);
  const double total = static_cast<double>(total_memory(desktop).likely.count);
  CHECK(static_cast<double>(free_at_start(desktop).low.count) >= 0.93 * total);
  CHECK(static_cast<double>(free_at_start(desktop).high.count) < 0.95 * total);
}

TEST_CASE("unified memory: free is what the system leaves, and 0.87 of a GB10 may not be there") {
  // MiaAI-Lab/GLM-5.3-Flash-EXL3-2x-DGX-Sparks#47: 0.87 needs 105.87 GiB; 101.3 to 110.37 GiB were free at start.
  const Node spark = node_of("gb10", System::linux_native);
  const ByteRange free = free_at_start(spark);
  CHECK(profiles::to_gib(free.low) < 101.3);
  CHECK(profiles::to_gib(free.likely) > 105.87);
  CHECK(profiles::to_gib(free.high) > 110.37);
  CHECK(spark.gpu.utilisation->value.likely == 0.80);
}

TEST_CASE("a GPU that does not run under WSL2 says so") {
  try {
    total_memory(node_of("h100-sxm", System::wsl2));
    FAIL("no error");
  } catch (const profiles::Error& error) {
    CHECK(error.text() ==
          "error: H100 SXM (80 GB) has no figures for WSL2\n"
          "  help: plan for native Linux, or add cuda_total_wsl2 and wsl2_hidden to its profile");
  }
}

TEST_CASE("free memory is ordered, below the total, and falls byte for byte with what others use") {
  std::mt19937_64 random(20261130);
  for (int round = 0; round < 2000; ++round) {
    Node node;
    node.gpu.cuda_total_linux.value = random_range(random, profiles::kGiB, 300 * profiles::kGiB);
    node.gpu.cuda_total_wsl2 = node.gpu.cuda_total_linux;
    node.gpu.context.value = random_range(random, 0, profiles::kGiB);
    node.gpu.idle.value = random_range(random, 0, profiles::kGiB);
    node.gpu.wsl2_hidden = Fact<ByteRange>{.value = random_range(random, 0, 2 * profiles::kGiB), .source = {}};
    node.system = round % 2 == 0 ? System::linux_native : System::wsl2;
    const ByteRange total = total_memory(node);
    const ByteRange before = free_at_start(node);
    CHECK(Bytes(0) <= before.low);
    CHECK(before.low <= before.likely);
    CHECK(before.likely <= before.high);
    CHECK(before.high <= total.high);
    node.used_elsewhere = Bytes(static_cast<std::int64_t>(random() % (1U << 30U)));
    const ByteRange after = free_at_start(node);
    CHECK(after.likely == std::max(Bytes(0), before.likely - node.used_elsewhere));
  }
}

}  // namespace
}  // namespace kvfit::hardware
