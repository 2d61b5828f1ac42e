// The published rungs of a real model, sized twice: from its config alone, and from the headers of a checkpoint that looks
// like it (true names, dtypes and shapes; the data is a hole in the file).
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "carve/layout.h"
#include "carve/output_shard.h"
#include "models/config_reader.h"
#include "models/model.h"
#include "models/tensor_inventory.h"
#include "profiles/document.h"
#include "tests/support/synthetic_checkpoint.h"
#include "tests/support/temp_directory.h"

namespace kvfit::carve {

TEST_CASE("tensor bytes of 192, 160 and 128 experts from the config are those of a carve, to the byte") {
  const std::string path = KVFIT_TEST_DATA "/configs/Qwen3.6-35B-A3B-NVFP4.json";
  const models::Model model =
      models::read_config(profiles::parse_json(profiles::read_text_file(path), path), nullptr, "qwen3.6");
  const tests::TempDirectory directory;
  tests::write_checkpoint(models::derive_inventory(model), directory.path().string(), {.shards = 4});
  directory.write("config.json", "{}");
  const Source source = open_source(directory.path().string(), {});
  const Layout layout = recognise(source, {.experts = 256, .trunk_layers = 40}, {});
  CHECK(layout.experts == 256);
  CHECK(layout.blocks.size() == (model.draft ? 41U : 40U));
  for (const std::int64_t keep : {192, 160, 128}) {
    CAPTURE(keep);
    CHECK(tensor_bytes_at(source, layout, keep) ==
          models::derive_inventory(models::with_experts(model, keep)).total().count);
  }
}

}  // namespace kvfit::carve
