#include "carve/output_shard.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/checkpoint.h"
#include "models/checkpoint_size.h"
#include "models/safetensors_header.h"
#include "profiles/error.h"
#include "tests/support/synthetic_checkpoint.h"
#include "tests/support/temp_directory.h"

namespace kvfit::carve {
namespace {

using profiles::DType;
using tests::SyntheticTensor;
using tests::TempDirectory;

struct Case {
  TempDirectory directory;
  Source source;
  Layout layout;
  explicit Case(const std::vector<SyntheticTensor>& tensors) {
    tests::write_safetensors(directory / "model.safetensors", tensors);
    directory.write("config.json", "{}");
    source = open_source(directory.path().string(), {});
    layout = recognise(source, {}, {});
  }
  OutputShard plan(const std::vector<std::int32_t>& kept, Padding padding = Padding::shareable) const {
    const Kept all = {kept};
    return plan_shard(Survivors(source, layout, all), {{0, 0, static_cast<std::uint32_t>(source.tensor_count())}}, padding);
  }
};

std::vector<SyntheticTensor> stacked(std::int64_t experts, std::int64_t slab) {
  return {{"model.layers.0.mlp.gate.weight", DType::bf16, {experts, 4}},
          {"model.layers.0.mlp.experts.gate_up_proj", DType::u8, {experts, slab}}};
}

std::int64_t shareable(const OutputShard& shard) {
  std::int64_t out = 0;
  for (const Run& run : shard.runs) out += run.bytes >= 65536 && (run.source - run.target) % 4096 == 0 ? run.bytes : 0;
  return out;
}

}  // namespace

TEST_CASE("keeping all experts gives the source's own bytes back") {
  const Case it(stacked(4, 16));
  const OutputShard shard = it.plan({0, 1, 2, 3});
  CHECK(shard.head.size() == static_cast<std::size_t>(it.source.shards[0].header.data_begin()));
  CHECK(shard.bytes == it.source.shards[0].header.file_bytes);
  REQUIRE(shard.runs.size() == 1);
  CHECK(shard.runs[0].source == shard.runs[0].target);
}

TEST_CASE("slices of a stack that lie side by side are one run, and runs cover the file") {
  const Case it(stacked(8, 16));
  const OutputShard shard = it.plan({1, 2, 5});
  // router rows 1-2 and 5 (8 bytes each), then slabs 1-2 and 5 (16 each); canonical order puts BF16 before U8
  REQUIRE(shard.runs.size() == 4);
  CHECK(shard.runs[0].bytes == 16);
  CHECK(shard.runs[1].bytes == 8);
  CHECK(shard.runs[2].bytes == 32);
  CHECK(shard.runs[3].bytes == 16);
  std::int64_t at = static_cast<std::int64_t>(shard.head.size());
  for (const Run& run : shard.runs) {
    CHECK(run.target == at);
    at += run.bytes;
  }
  CHECK(at == shard.bytes);
  const models::SafetensorsHeader header =
      models::parse_safetensors_header({shard.head.begin() + 8, shard.head.end()}, shard.bytes, "planned");
  CHECK(header.tensors[1].name == "model.layers.0.mlp.experts.gate_up_proj");
  CHECK(header.shape(header.tensors[1])[0] == 3);
}

TEST_CASE("a kept expert takes its new number") {
  const TensorPlace place{.block = 0, .expert = 12, .digits_begin = 14, .digits_end = 16, .part = Part::expert};
  CHECK(carved_name("b.mlp.experts.12.up_proj.weight", place, 3) == "b.mlp.experts.3.up_proj.weight");
}

TEST_CASE("the default padding puts large runs where a file system can share them, and is a multiple of 8") {
  const Case it(stacked(8, 262144));
  const OutputShard padded = it.plan({0, 2, 4, 6});
  const OutputShard canonical = it.plan({0, 2, 4, 6}, Padding::canonical);
  CHECK(padded.head.size() % 8 == 0);
  CHECK(padded.head.size() >= canonical.head.size());
  CHECK(padded.head.size() < canonical.head.size() + 4096);
  CHECK(shareable(padded) == 4 * 262144);
  CHECK(padded.bytes - static_cast<std::int64_t>(padded.head.size()) ==
        canonical.bytes - static_cast<std::int64_t>(canonical.head.size()));
}

TEST_CASE("elements smaller than a byte are not cut") {
  CHECK_THROWS_WITH_AS(Case({{"model.layers.0.mlp.gate.weight", DType::bf16, {6, 4}},
                             {"model.layers.0.mlp.experts.up_proj", DType::f4, {6, 3, 1}}}),
                       doctest::Contains("'model.layers.0.mlp.experts.up_proj': its 9 bytes do not divide into 6 experts"),
                       profiles::Error);
}

TEST_CASE("sizes from headers are those that the planner derives from an inventory, to the byte") {
  const Case it(stacked(8, 48));
  const models::CheckpointReport report = models::read_checkpoint(it.source.files, models::Model{});
  for (const std::int64_t keep : {2, 4, 8}) {
    CHECK(tensor_bytes_at(it.source, it.layout, keep) == models::checkpoint_size(report.inventory, 8).at(keep).count);
  }
}

TEST_CASE("a name in two files, an index that names nothing and a missing config are refused") {
  TempDirectory place;
  tests::write_safetensors(place / "a.safetensors", stacked(4, 16));
  CHECK_THROWS_WITH_AS(open_source(place.path().string(), {}),
                       doctest::Contains("there is no config.json beside the weights"), profiles::Error);
  place.write("config.json", "{}");
  tests::write_safetensors(place / "b.safetensors", stacked(4, 16));
  CHECK_THROWS_WITH_AS(open_source(place.path().string(), {}), doctest::Contains("is in this file and in a.safetensors"),
                       profiles::Error);
  std::filesystem::remove(place / "b.safetensors");
  place.write("model.safetensors.index.json",
              R"({"weight_map": {"model.layers.0.mlp.gate.weight": "a.safetensors", "gone": "a.safetensors"}})");
  CHECK_THROWS_WITH_AS(open_source(place.path().string(), {}),
                       doctest::Contains("the index names 1 tensors that no file holds, 'gone' first"), profiles::Error);
  CHECK(open_source(place.path().string(), {.ignore_dangling = true}).findings.size() == 2);
  place.write("model.safetensors.index.json", R"({"weight_map": {"x": "../escape.safetensors"}})");
  CHECK_THROWS_WITH_AS(open_source(place.path().string(), {}), doctest::Contains("no plain file name"), profiles::Error);
}

}  // namespace kvfit::carve
