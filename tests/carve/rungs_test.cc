// The published rungs of a real model, and half the experts of every family, sized twice: from the config alone, and from
// the headers of a checkpoint that looks like it (true names, dtypes and shapes; the data is a hole in the file).
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "carve/layout.h"
#include "carve/output_shard.h"
#include "models/config_reader.h"
#include "models/model.h"
#include "models/tensor_inventory.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "tests/support/synthetic_checkpoint.h"
#include "tests/support/temp_directory.h"

namespace kvfit::carve {
namespace {

struct Sized {
  models::Model model;
  tests::TempDirectory directory;
  Source source;
  Layout layout;

  explicit Sized(const std::string& name) {
    const std::string path = std::string(KVFIT_TEST_DATA "/configs/") + name + ".json";
    model = models::read_config(profiles::parse_json(profiles::read_text_file(path), path), nullptr, name);
    tests::write_checkpoint(models::derive_inventory(model), directory.path().string(), {.shards = 4});
    directory.write("config.json", "{}");
    source = open_source(directory.path().string(), {});
    const std::int64_t trunk = static_cast<std::int64_t>(model.layers.size());
    layout = recognise(source, {.experts = models::expert_count(model), .trunk_layers = trunk}, {.remap_tables = true});
  }
  std::int64_t from_headers(std::int64_t keep) const { return tensor_bytes_at(source, layout, keep); }
  std::int64_t from_config(std::int64_t keep) const {
    return models::derive_inventory(models::with_experts(model, keep)).total().count;
  }
};

}  // namespace

TEST_CASE("tensor bytes of 192, 160 and 128 experts from the config are those of a carve, to the byte") {
  const Sized it("Qwen3.6-35B-A3B-NVFP4");
  CHECK(it.layout.experts == 256);
  CHECK(it.layout.blocks.size() == (it.model.draft ? 41U : 40U));
  for (const std::int64_t keep : {192, 160, 128}) {
    CAPTURE(keep);
    CHECK(it.from_headers(keep) == it.from_config(keep));
  }
}

TEST_CASE("every family's tensors are recognised, and half its experts weigh what the config says") {
  for (const std::string name : {"Qwen3-30B-A3B",
                                 "Qwen3-Next-80B-A3B-Instruct",
                                 "Qwen3.6-35B-A3B",
                                 "Mixtral-8x7B-v0.1",
                                 "Phi-3.5-MoE-instruct",
                                 "DeepSeek-V3",
                                 "DeepSeek-V4-Flash",
                                 "GLM-4.5-Air",
                                 "GLM-5.2-NVFP4",
                                 "Kimi-K2.5",
                                 "gpt-oss-20b",
                                 "Llama-4-Scout-17B-16E-Instruct",
                                 "Llama-4-Scout-17B-16E-Instruct-FP8-dynamic",
                                 "granite-4.0-h-small",
                                 "MiniMax-M2",
                                 "MiMo-V2-Flash",
                                 "Step-3.5-Flash",
                                 "NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4",
                                 "gemma-4-26B-A4B",
                                 "dbrx-instruct",
                                 "LFM2-8B-A1B",
                                 "Hunyuan-A13B-Instruct",
                                 "Jamba-v0.1"}) {
    CAPTURE(name);
    try {
      const Sized it(name);
      const std::int64_t half = it.layout.experts / 2;
      CHECK(it.layout.experts == models::expert_count(it.model));
      CHECK(it.from_headers(half) == it.from_config(half));
    } catch (const profiles::Error& error) {
      FAIL_CHECK(error.text());
    }
  }
}

}  // namespace kvfit::carve
