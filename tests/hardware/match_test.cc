#include "hardware/match.h"

#include <doctest/doctest.h>

#include "hardware/gpu_catalog.h"

namespace kvfit::hardware {
namespace {

const std::vector<Gpu>& gpus() {
  static const std::vector<Gpu> all = load_gpus(profiles::Catalog());
  return all;
}

GpuMatch match(const char* name, std::int64_t total_mib, Capability capability = {12, 0}, bool unified = false) {
  return match_gpu(gpus(), {name, profiles::mib(total_mib), capability, unified});
}

TEST_CASE("the laptop and the desktop card of one name stem are told apart") {
  CHECK(match("NVIDIA GeForce RTX 5090 Laptop GPU", 24463).gpu->id == "rtx5090-24g");
  CHECK(match("NVIDIA GeForce RTX 5090", 32607).gpu->id == "rtx5090-32g");
  CHECK(match("nvidia geforce rtx 5090", 32607).kind == MatchKind::exact);
  CHECK(match("NVIDIA RTX PRO 5000 72GB Blackwell", 73415).gpu->id == "rtx-pro-5000-72g");
  CHECK(match("NVIDIA RTX PRO 5000 Blackwell", 48935).gpu->id == "rtx-pro-5000-48g");
}

TEST_CASE("two GPUs of one name are told apart by their total") {
  CHECK(match("NVIDIA GB300", 284208, {10, 3}).gpu->id == "gb300");
  CHECK(match("NVIDIA GB300", 256703, {10, 3}).gpu->id == "gb300-station");
}

TEST_CASE("the name with another total is a match with a warning") {
  const GpuMatch eight = match("NVIDIA GeForce RTX 5060 Ti", 8151);
  CHECK(eight.kind == MatchKind::name_only);
  CHECK(eight.gpu->id == "rtx5060ti-16g");
  CHECK(eight.remark ==
        "GeForce RTX 5060 Ti (16 GB) has 16311 MiB, this one 8151 MiB: another variant, so take CUDA's own total");
  CHECK(match("NVIDIA GeForce RTX 3060", 8192, {8, 6}).kind == MatchKind::name_only);
  // ECC on takes 1/16 of a 49140 MiB card.
  CHECK(match("NVIDIA RTX A6000", 46068, {8, 6}).kind == MatchKind::name_only);
}

TEST_CASE("a total within one percent is the same card, one beyond is not") {
  // 1 % of 32607 MiB is 326.07 MiB.
  CHECK(match("NVIDIA GeForce RTX 5090", 32607 - 326).kind == MatchKind::exact);
  CHECK(match("NVIDIA GeForce RTX 5090", 32607 - 327).kind == MatchKind::name_only);
}

TEST_CASE("a unified GPU matches by name whatever NVML says of its memory") {
  CHECK(match("NVIDIA GB10", 0, {12, 1}, true).kind == MatchKind::exact);
  CHECK(match("NVIDIA RTX Spark N1X", 8128, {12, 1}, true).gpu->id == "rtx-spark-n1x");
}

TEST_CASE("a MIG slice is not its parent") {
  const GpuMatch slice = match("NVIDIA A100 80GB PCIe MIG 1g.10gb", 9728, {8, 0});
  CHECK(slice.kind == MatchKind::name_only);
  CHECK(slice.gpu->id == "a100-80g-pcie");
  CHECK(slice.remark == "a MIG slice of A100 PCIe (80 GB): take CUDA's own total");
}

TEST_CASE("an unknown name takes the memory of a like GPU, or says that there is none") {
  const GpuMatch like = match("NVIDIA GeForce RTX 6090", 32500);
  CHECK(like.kind == MatchKind::similar);
  CHECK(like.remark ==
        "no profile is named 'NVIDIA GeForce RTX 6090': memory taken from GeForce RTX 5090 (32 GB), its speed does not "
        "apply");
  const GpuMatch none = match("Quadro P6000", 24449, {6, 1});
  CHECK(none.kind == MatchKind::none);
  CHECK_FALSE(none.gpu.has_value());
  CHECK(none.remark == "no profile is named 'Quadro P6000', and none of capability 6.1 has 24449 MiB");
}

}  // namespace
}  // namespace kvfit::hardware
