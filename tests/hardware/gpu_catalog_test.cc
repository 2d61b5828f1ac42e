#include "hardware/gpu_catalog.h"

#include <doctest/doctest.h>

#include <string>

#include "profiles/error.h"
#include "tests/support/temp_directory.h"

namespace kvfit::hardware {
namespace {

std::string profile(const std::string& id, const std::string& aliases, const std::string& driver_name) {
  return "id: " + id + "\nname: " + id + "\nnames: [" + driver_name + "]\naliases: [" + aliases +
         "]\nas_of: 2026-11-30\ncapability: \"12.0\"\nnvml_total: {mib: 20000, source: a}\n"
         "cuda_total_linux: {mib: 19500, source: a}\ncontext: {mib: 200, source: a}\nidle: {mib: 2, source: a}\n"
         "shared_memory_optin: {bytes: 101376, source: a}\n";
}

TEST_CASE("ids, aliases and driver names find a profile, whatever their case") {
  const profiles::Catalog catalog;
  CHECK(load_gpu(catalog, "rtx5090-24g").id == "rtx5090-24g");
  CHECK(load_gpu(catalog, "RTX-5090-Laptop").id == "rtx5090-24g");
  CHECK(load_gpu(catalog, "NVIDIA GeForce RTX 5090 Laptop GPU").id == "rtx5090-24g");
  CHECK(load_gpu(catalog, "5090").id == "rtx5090-32g");
  CHECK(load_gpu(catalog, "dgx-spark").id == "gb10");
}

TEST_CASE("a misspelt id suggests the nearest") {
  try {
    load_gpu(profiles::Catalog(), "rtx5090-42g");
    FAIL("no error");
  } catch (const profiles::Error& error) {
    CHECK(error.text() ==
          "error: unknown GPU 'rtx5090-42g'\n"
          "  help: did you mean 'rtx5090-24g'? `kvfit gpus list` shows all");
  }
}

TEST_CASE("facts come in the profile's order with unit and provenance") {
  const std::vector<FactRow> rows = facts_of(load_gpu(profiles::Catalog(), "rtx5090-24g"));
  REQUIRE(rows.size() == 12);
  CHECK(rows[0].key == "nvml_total");
  CHECK(rows[0].likely == 24463.0 * 1048576);
  CHECK(rows[0].provenance == "read");
  CHECK(rows[1].key == "cuda_total_linux");
  CHECK(rows[1].low == 22897.0 * 1048576);
  CHECK(rows[1].provenance == "derived");
  CHECK(rows[6].key == "sm_count");
  CHECK(rows[6].provenance == "unsourced");
  CHECK(rows[10].key == "pcie");
  CHECK(rows[10].unit == "bytes_per_second");
  CHECK(rows[10].likely == 32e9);
  CHECK(rows[11].key == "power");
}

TEST_CASE("a user's profile adds a GPU or overrides one") {
  const tests::TempDirectory directory;
  directory.write("hardware/new-gpu.yaml", profile("new-gpu", "ng", "NVIDIA New GPU"));
  directory.write("hardware/l4.yaml", profile("l4", "", "NVIDIA L4"));
  const profiles::Catalog catalog({directory.path().string()});
  CHECK(load_gpu(catalog, "ng").id == "new-gpu");
  CHECK(load_gpu(catalog, "l4").nvml_total->value == profiles::mib(20000));
  CHECK(load_gpus(catalog).size() == load_gpus(profiles::Catalog()).size() + 1);
  CHECK(lint_gpus(catalog).empty());
}

TEST_CASE("lint finds clashing names, a wrong file name and a broken file, each once") {
  const tests::TempDirectory directory;
  directory.write("hardware/a-gpu.yaml", profile("a-gpu", "L4, ng", "NVIDIA New GPU"));
  directory.write("hardware/b-gpu.yaml", profile("c-gpu", "cg", "NVIDIA New GPU"));
  directory.write("hardware/broken.yaml", "id: broken\n");
  const std::vector<LintFinding> findings = lint_gpus(profiles::Catalog({directory.path().string()}));
  REQUIRE(findings.size() == 4);
  const std::string hardware = directory / "hardware/";
  CHECK(findings[0].profile == hardware + "b-gpu.yaml");
  CHECK(findings[0].text == "the file is named b-gpu, its id is c-gpu");
  CHECK(findings[1].profile == hardware + "broken.yaml");
  CHECK(findings[1].text == "error: missing key 'name'\n  --> " + hardware + "broken.yaml:1:1\n 1 | id: broken\n   | ^");
  CHECK(findings[2].profile == "built-in:hardware/l4.yaml");
  CHECK(findings[2].text == "'l4' is also an id or alias in " + hardware + "a-gpu.yaml");
  CHECK(findings[3].profile == hardware + "b-gpu.yaml");
  CHECK(findings[3].text == "same driver name as " + hardware + "a-gpu.yaml and totals within 2 %");
}

}  // namespace
}  // namespace kvfit::hardware
