#include "carve/output_files.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/safetensors_header.h"
#include "profiles/error.h"
#include "tests/support/synthetic_checkpoint.h"
#include "tests/support/temp_directory.h"

namespace kvfit::carve {
namespace {

using profiles::DType;
using tests::SyntheticTensor;
using tests::TempDirectory;

// Eight experts of 100,000 bytes each, a router of 64 bytes, and a norm of 300,000 bytes in a file of its own.
struct Case {
  TempDirectory directory;
  Source source;
  Layout layout;
  Kept kept;
  explicit Case(std::vector<std::int32_t> experts) : kept({std::move(experts)}) {
    std::vector<SyntheticTensor> first = {{"model.layers.0.mlp.gate.weight", DType::bf16, {8, 4}}};
    for (int e = 0; e < 8; ++e) {
      first.push_back({"model.layers.0.mlp.experts." + std::to_string(e) + ".up_proj.weight", DType::u8, {100, 1000}});
    }
    tests::write_safetensors(directory / "model-00001-of-00002.safetensors", first);
    tests::write_safetensors(directory / "model-00002-of-00002.safetensors", {{"model.norm.weight", DType::bf16, {150000}}});
    directory.write("config.json", "{}");
    source = open_source(directory.path().string(), {});
    layout = recognise(source, {}, {});
  }
  Survivors survivors() const { return {source, layout, kept}; }
  std::vector<std::string> names(const OutputFile& file) const {
    std::vector<std::string> out;
    for_each_output_tensor(survivors(), file.spans, [&out](std::string name) { out.push_back(std::move(name)); });
    return out;
  }
};

std::string expert(int number) { return "model.layers.0.mlp.experts." + std::to_string(number) + ".up_proj.weight"; }

}  // namespace

TEST_CASE("files of a size hold whole tensors in the source's order, under new numbers") {
  const Case it({0, 2, 4, 6});
  // Least heads are below 9,000 bytes: two experts fit into 220,000 bytes, a third does not, nor does the norm of 300,000.
  const std::vector<OutputFile> files = outputs_of_size(it.survivors(), 220'000);
  REQUIRE(files.size() == 3);
  CHECK(files[0].name == "model-00001-of-00003.safetensors");
  CHECK(files[2].name == "model-00003-of-00003.safetensors");
  CHECK(it.names(files[0]) == std::vector<std::string>{"model.layers.0.mlp.gate.weight", expert(0), expert(1)});
  CHECK(it.names(files[1]) == std::vector<std::string>{expert(2), expert(3)});
  CHECK(it.names(files[2]) == std::vector<std::string>{"model.norm.weight"});
  for (const OutputFile& file : {files[0], files[1]}) {
    CHECK(plan_shard(it.survivors(), file.spans, Padding::shareable).bytes <= 220'000);
  }
  CHECK(plan_shard(it.survivors(), files[2].spans, Padding::canonical).bytes > 300'000);
}

TEST_CASE("a file of two sources reads from both, and its header covers it") {
  const Case it({0, 2, 4, 6});
  const std::vector<OutputFile> files = outputs_of_size(it.survivors(), 1'000'000);
  REQUIRE(files.size() == 1);
  CHECK(files[0].name == "model.safetensors");
  const OutputShard shard = plan_shard(it.survivors(), files[0].spans, Padding::canonical);
  CHECK(shard.runs.front().shard == 0);
  CHECK(shard.runs.back().shard == 1);
  CHECK(shard.runs.back().bytes == 300'000);
  // 64 bytes of router become 32; four experts; the norm
  CHECK(shard.bytes - static_cast<std::int64_t>(shard.head.size()) == 32 + 4 * 100'000 + 300'000);
  CHECK(shard.ends.back() == shard.bytes);
  const models::SafetensorsHeader header =
      models::parse_safetensors_header({shard.head.begin() + 8, shard.head.end()}, shard.bytes, "planned");
  CHECK(header.tensors.size() == 6);
  CHECK(header.metadata.size() == 1);
}

TEST_CASE("any size gives each tensor exactly once, in order") {
  const Case it({1, 3, 5, 7});
  std::vector<std::string> expected;
  for (const OutputFile& file : outputs_as_source(it.survivors())) {
    for (const std::string& name : it.names(file)) expected.push_back(name);
  }
  CHECK(expected.size() == 6);
  for (const std::int64_t most : {1LL, 100'000LL, 109'000LL, 150'000LL, 310'000LL, 500'000LL, 10'000'000LL}) {
    std::vector<std::string> found;
    for (const OutputFile& file : outputs_of_size(it.survivors(), most)) {
      const std::vector<std::string> names = it.names(file);
      CHECK((names.size() == 1 || plan_shard(it.survivors(), file.spans, Padding::shareable).bytes <= most));
      found.insert(found.end(), names.begin(), names.end());
    }
    CHECK(found == expected);
  }
}

TEST_CASE("tensors of files with different metadata share no file") {
  TempDirectory directory;
  directory.write("a.safetensors",
                  tests::safetensors_bytes(
                      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4));
  directory.write("b.safetensors",
                  tests::safetensors_bytes(
                      R"({"__metadata__":{"format":"np"},"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4));
  directory.write("config.json", "{}");
  const Source source = open_source(directory.path().string(), {});
  const Layout layout{.places = {{TensorPlace{}}, {TensorPlace{}}}, .experts = 1};
  const Kept kept;
  const std::vector<OutputFile> files = outputs_of_size(Survivors(source, layout, kept), 1'000'000);
  REQUIRE(files.size() == 2);
  CHECK(files[1].name == "model-00002-of-00002.safetensors");
}

}  // namespace kvfit::carve
