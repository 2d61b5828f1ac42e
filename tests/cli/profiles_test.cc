// The profiles that only the command line reads: kvfit's defaults and published figures.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "cli/plan_defaults.h"
#include "cli/published.h"
#include "profiles/catalog.h"

namespace {

using namespace kvfit;
using namespace kvfit::cli;

}  // namespace

TEST_CASE("kvfit's own defaults are those under which the carves were published") {
  const PlanDefaults defaults = plan_defaults(profiles::Catalog());
  CHECK(defaults.engine == "vllm");
  CHECK(defaults.engine_version == "0.24");
  CHECK(defaults.gpu_memory_utilization == 0.94);
  CHECK(defaults.model == "qwen3.6-35b-a3b-nvfp4-unsloth");
  CHECK(defaults.kv_cache_dtype == "fp8");
  CHECK(defaults.max_num_seqs == 16);
  CHECK_FALSE(defaults.vision);
}

TEST_CASE("published figures stand beside the same model on the same GPUs only") {
  const profiles::Catalog catalog;
  std::vector<Input> inputs;
  const std::vector<Published> found = find_published(catalog, "qwen3.6-35b-a3b-nvfp4-unsloth", "rtx5090-24g", 1, inputs);
  REQUIRE_FALSE(found.empty());
  REQUIRE(inputs.size() == 1);
  CHECK(inputs[0].kind == "published");
  CHECK(found[0].experts == 192);
  CHECK(found[0].metric == "throughput");
  CHECK(found[0].low == 168);
  CHECK(found[0].high == 169);
  CHECK(found[0].unit == "tok/s");
  CHECK_FALSE(found[0].source.empty());
  CHECK(find_published(catalog, "qwen3.6-35b-a3b-nvfp4-unsloth", "rtx5090-24g", 2, inputs).empty());
  CHECK(find_published(catalog, "qwen3.6-35b-a3b-nvfp4-unsloth", "h100-sxm", 1, inputs).empty());
}

TEST_CASE("every published profile can be read and says where its figures come from") {
  const profiles::Catalog catalog;
  std::size_t figures = 0;
  for (const profiles::ProfileFile& file : catalog.list("published")) {
    CAPTURE(file.id);
    const profiles::Node profile = catalog.load(file);
    std::vector<Input> inputs;
    const int count = static_cast<int>(profile.at("gpus").integer());
    for (const Published& row :
         find_published(catalog, profile.at("model").string(), profile.at("gpu").string(), count, inputs)) {
      CHECK_FALSE(row.source.empty());
      CHECK(row.as_of.size() == 10);
      CHECK_FALSE(row.unit.empty());
      ++figures;
    }
  }
  CHECK(figures >= 15);
}
