#include "tests/accuracy/machine.h"

#include <doctest/doctest.h>

#include "profiles/catalog.h"
#include "profiles/units.h"

namespace kvfit::accuracy {
namespace {

const Cards& cards() {
  static const Cards kCards = read_cards(profiles::Catalog());
  return kCards;
}

std::string found(std::string_view text, std::optional<double> total = std::nullopt) {
  const hardware::Gpu* gpu = find_card(cards(), text, total);
  return gpu != nullptr ? gpu->id : "-";
}

TEST_CASE("a card's name is found through remarks, packaging and memory sizes") {
  CHECK(found("H100 80GB (NVIDIA-H100-80GB-HBM3)") == "h100-sxm");
  CHECK(found("GB10 (DGX Spark; four nodes)") == "gb10");
  CHECK(found("RTX PRO 6000 Blackwell Workstation") == "rtx-pro-6000-ws");
  CHECK(found("Jetson AGX Thor (128 GB unified)") == "jetson-thor");
  CHECK(found("RTX 3090 Ti") == "rtx3090ti-24g");
  CHECK(found("RTX 3090") == "rtx3090-24g");
  CHECK(found("NVIDIA H100 NVL") == "h100-nvl");
  CHECK(found("RTX 5070") == "-");
  CHECK(found("MetaX C500") == "-");
}

TEST_CASE("a count before or behind a card's name is no part of it") {
  for (const char* text : {"2x RTX 3090", "RTX 3090 x2", "4 x NVIDIA GeForce RTX 3090"}) {
    REQUIRE(find_card(cards(), text, std::nullopt) != nullptr);
    CHECK(find_card(cards(), text, std::nullopt)->id == "rtx3090-24g");
  }
}

TEST_CASE("of two cards of one name the printed memory decides") {
  CHECK(found("RTX 5090", 31.37) == "rtx5090-32g");
  CHECK(found("RTX PRO 5000", 71.0) == "rtx-pro-5000-72g");
}

TEST_CASE("a card that is not named is told by its exact total") {
  REQUIRE(card_of_total(cards(), 79.19) != nullptr);
  CHECK(card_of_total(cards(), 79.19)->id == "h100-sxm");
  CHECK(card_of_total(cards(), 55.0) == nullptr);
  // 23.53 GiB is an Ampere or an Ada card; FP8 weights make the latter likelier.
  CHECK(card_of_total(cards(), 23.53, 89)->capability.number() >= 89);
}

TEST_CASE("the printed total wins over the profile, and an unknown card gets one from its memory") {
  Observation row;
  row.gpu = "H100";
  row.total_gib = 79.18;
  row.total_printed = true;
  const std::optional<Machine> named = machine_of(cards(), row);
  REQUIRE(named.has_value());
  CHECK(hardware::total_memory(named->node).likely == profiles::from_gib(79.18));
  CHECK(named->total_printed);

  row.gpu = "Some Card 9000";
  row.total_printed = false;
  row.total_gib = 23;  // a data sheet's figure: 1.5 % of it is kept by the driver
  const std::optional<Machine> unknown = machine_of(cards(), row);
  REQUIRE(unknown.has_value());
  CHECK(profiles::to_gib(hardware::total_memory(unknown->node).likely) == doctest::Approx(22.655));
  CHECK_FALSE(unknown->card_known);
  CHECK(hardware::total_memory(unknown->node).low < hardware::total_memory(unknown->node).likely);

  row.gpu = "AMD Instinct 9000";  // its driver keeps next to nothing
  CHECK(profiles::to_gib(hardware::total_memory(machine_of(cards(), row)->node).likely) == doctest::Approx(22.954));

  CHECK_FALSE(machine_of(cards(), Observation{}).has_value());
}

TEST_CASE("a card with another memory size than its profile's keeps the size that is stated") {
  Observation row;
  row.gpu = "RTX 3080";
  row.nvml_mib = 20480;  // a card with doubled memory; of nvidia-smi's total CUDA counts 98.25 %
  const std::optional<Machine> doubled = machine_of(cards(), row);
  REQUIRE(doubled.has_value());
  CHECK(profiles::to_gib(hardware::total_memory(doubled->node).likely) == doctest::Approx(19.65));
  CHECK(doubled->node.gpu.capability.number() == 86);
}

TEST_CASE("a size in a card's name decides between builds, and data sheets tell those without a profile") {
  struct Named {
    const char* text;
    const char* id;
    double gib;
  };
  for (const Named& named : {
           Named{"H200 NVL", "h200", 139.80},
           {"Tesla V100-PCIE-32GB", "v100-32g", 31.73},
           {"NVIDIA A100-SXM4-80GB", "a100-80g-sxm", 79.25},
           {"A100-SXM4-40GB", "a100-40g", 39.39},
           {"RTX 4090 48GB", "rtx4090-24g", 47.28},
           {"2x RTX 3090 (48 GB)", "rtx3090-24g", 23.56},
           {"GH200 480GB", "gh200", 142.50},
           {"RTX 2000 Ada 16GB", "unnamed", 15.76},
           {"RTX 5070", "unnamed", 11.82},
           {"RTX 4070 Ti SUPER", "rtx4070ti-super-16g", 15.60},
           {"NVIDIA L40", "unnamed", 47.28},
           {"AMD Instinct MI325X", "unnamed", 255.49},
       }) {
    INFO(named.text);
    Observation row;
    row.gpu = named.text;
    row.gpu_count = std::string_view(named.text).starts_with("2x") ? 2 : 1;
    const std::optional<Machine> machine = machine_of(cards(), row);
    REQUIRE(machine.has_value());
    CHECK(machine->node.gpu.id == named.id);
    CHECK(profiles::to_gib(hardware::total_memory(machine->node).likely) == doctest::Approx(named.gib).epsilon(0.005));
  }
}

TEST_CASE("cards of other vendors are told by their words, hints and builds included") {
  Observation row;
  row.gpu = "AMD RX 7900 XT";
  CHECK(other_vendor(row));
  row.gpu = "RTX 3090";
  CHECK_FALSE(other_vendor(row));
  row.engine_version = "0.23.1 (ROCm 7.14)";
  CHECK(other_vendor(row));

  hardware::Gpu gpu;
  set_platform(row, gpu);
  CHECK(gpu.platform == "rocm");
  row.gpu = "Intel Arc Pro B60 (XPU)";
  set_platform(row, gpu);
  CHECK(gpu.platform == "xpu");
  hardware::Gpu other;
  set_platform(Observation{}, other);
  CHECK(other.platform == "cuda");
}

}  // namespace
}  // namespace kvfit::accuracy
