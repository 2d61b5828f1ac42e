// The profiles in the binary against readings that were printed by drivers and engines.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "hardware/gpu_catalog.h"
#include "hardware/node.h"

namespace kvfit::hardware {
namespace {

const std::vector<Gpu>& gpus() {
  static const std::vector<Gpu> all = load_gpus(profiles::Catalog());
  return all;
}

const Gpu& gpu(std::string_view id) {
  for (const Gpu& one : gpus()) {
    if (one.id == id) return one;
  }
  FAIL("no profile " << id);
  return gpus().front();
}

// A value printed as "31.36" GiB stands for 31.355 to 31.365.
bool holds(const ByteRange& range, double printed_gib, double half = 0.005) {
  return profiles::to_gib(range.low) <= printed_gib + half && profiles::to_gib(range.high) >= printed_gib - half;
}

TEST_CASE("every built-in GPU is readable and has its name and date") {
  CHECK(gpus().size() >= 50);
  for (const Gpu& one : gpus()) {
    INFO(one.id);
    CHECK_FALSE(one.name.empty());
    CHECK(one.as_of == "2026-11-30");
  }
}

TEST_CASE("the built-in profiles pass their own lint") {
  for (const LintFinding& finding : lint_gpus(profiles::Catalog())) FAIL_CHECK(finding.profile << ": " << finding.text);
}

TEST_CASE("totals that vLLM printed lie inside the profile's range") {
  struct Printed {
    const char* id;
    std::vector<double> gib;
  };
  // Start lines of public vLLM boots ("(F/T GiB) on startup", profile lines), as collected over many logs.
  const std::vector<Printed> rows = {
      {"h100-sxm", {79.18, 79.19, 79.22}},
      {"h100-pcie", {79.11}},
      {"h200", {139.80, 139.81}},
      {"b200", {178.35, 178.36}},
      {"gb200", {184.31}},
      {"b300", {267.69}},
      {"gb300", {276.62}},
      {"a100-80g-sxm", {79.15, 79.25, 79.32}},
      {"a100-40g", {39.39, 39.49}},
      {"l40s", {44.31, 44.39, 44.42, 44.52}},
      {"rtx-a6000-48g", {47.38}},
      {"rtx-pro-6000-ws", {94.97, 95.01}},
      {"rtx5090-32g", {31.36, 31.37}},
      {"rtx-pro-4500-32g", {31.38}},
      {"rtx4090-24g", {23.50, 23.52, 23.60}},
      {"rtx3090-24g", {23.53, 23.56, 23.58, 23.60}},
      {"rtx3090ti-24g", {23.55}},
      {"l4", {22.03, 22.05, 22.07}},
      {"gb10", {119.56, 121.63, 121.69}},
      {"jetson-thor", {122.82}},
      {"rtx3060-12g", {11.66}},
      {"rtx5060ti-16g", {15.47}},
      {"rtx-pro-5000-48g", {47.26}},
      {"rtx-pro-5000-72g", {71.13}},
      {"rtx-6000-ada", {47.37}},
      {"rtx4070ti-super-16g", {15.60}},
      {"h20", {95.0}},
      {"rtx5090-24g", {22.36, 23.43}},
  };
  for (const Printed& row : rows) {
    for (const double gib : row.gib) {
      INFO(row.id << " printed " << gib);
      CHECK(holds(gpu(row.id).cuda_total_linux.value, gib));
    }
  }
  CHECK(holds(gpu("rtx-pro-4000-24g").cuda_total_linux.value, 23.5, 0.05));
  CHECK(holds(gpu("gb300-station").cuda_total_linux.value, 250.7, 0.05));
  CHECK(holds(gpu("gh200").cuda_total_linux.value, 142.5, 0.05));
}

TEST_CASE("totals that drivers reported to the byte lie inside the profile's range") {
  const auto inside = [](const char* id, Bytes total) {
    const ByteRange& range = gpu(id).cuda_total_linux.value;
    return range.low <= total && total <= range.high;
  };
  CHECK(inside("rtx5090-32g", Bytes(33680457728)));            // NVIDIA/nccl#1637
  CHECK(inside("rtx5090-32g", Bytes(33677180928)));            // aikitoria/open-gpu-kernel-modules#1
  CHECK(inside("rtx-pro-5000-72g", Bytes(76374540288)));       // public report
  CHECK(inside("a100-40g", Bytes(42298834944)));               // public report
  CHECK(inside("rtx-6000-ada", Bytes(50865307648)));           // unslothai/unsloth-zoo PR#1053
  CHECK(inside("b200", profiles::mib(182631)));                // unslothai/unsloth PR#8669
  CHECK(inside("rtx-pro-6000-server", profiles::mib(97251)));  // 97887 less 636 reserved (rtx6kpro nvidia-smi log)
}

TEST_CASE("free memory that vLLM printed at start lies inside the range on native Linux") {
  struct Printed {
    const char* id;
    double gib;
  };
  for (const Printed& row : {Printed{"h100-sxm", 78.68}, Printed{"h100-sxm", 78.57}, Printed{"rtx5090-32g", 30.86},
                             Printed{"rtx-pro-6000-ws", 94.41}, Printed{"l4", 21.84}, Printed{"l40s", 43.93},
                             Printed{"a100-80g-sxm", 78.84}, Printed{"h200", 139.21}, Printed{"rtx4090-24g", 23.07},
                             Printed{"gb10", 110.37}, Printed{"gb10", 116.05}, Printed{"gb10", 101.3}}) {
    INFO(row.id << " printed " << row.gib);
    Node node;
    node.gpu = gpu(row.id);
    CHECK(holds(free_at_start(node), row.gib));
  }
}

TEST_CASE("a derived Linux total is NVML's less 434 MiB + 0.158 percent, give or take 122 MiB") {
  int derived = 0;
  for (const Gpu& one : gpus()) {
    if (!one.cuda_total_linux.derived) continue;
    ++derived;
    INFO(one.id);
    const double nvml = static_cast<double>(one.nvml_total->value.count) / static_cast<double>(profiles::kMiB);
    const double fitted = nvml - 434 - 0.00158 * nvml;
    CHECK(std::fabs(static_cast<double>(one.cuda_total_linux.value.likely.count / profiles::kMiB) - fitted) <= 1);
    CHECK(one.cuda_total_linux.value.low <= one.cuda_total_linux.value.likely - profiles::mib(122));
  }
  // 5090 and 5080 laptops, 5080, 5070 Ti, 4080, 4060 Ti, 4060, 3080, A5000, GB300 desktop.
  CHECK(derived == 10);
}

TEST_CASE("shared memory of one block follows the compute capability") {
  for (const Gpu& one : gpus()) {
    INFO(one.id);
    const int capability = one.capability.number();
    // CUDA C++ programming guide, technical specifications per compute capability: KiB an SM less 1 KiB, from 8.0 on.
    const std::map<int, std::int64_t> below = {{70, 98304}, {75, 65536}, {80, 166912}};
    const auto old = below.find(capability);
    const std::int64_t expected = old != below.end() ? old->second : capability >= 90 && capability <= 110 ? 232448 : 101376;
    CHECK(one.shared_memory_optin.value.count == expected);
  }
}

}  // namespace
}  // namespace kvfit::hardware
