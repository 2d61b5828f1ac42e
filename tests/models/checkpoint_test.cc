// A path becomes files, files become one inventory.
#include "models/checkpoint.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "models/model.h"
#include "models/tensor_inventory.h"
#include "profiles/error.h"
#include "tests/support/synthetic_checkpoint.h"
#include "tests/support/temp_directory.h"

namespace kvfit::models {
namespace {

namespace fs = std::filesystem;
using profiles::DType;
using tests::SyntheticTensor;
using tests::TempDirectory;

std::string find_refusal(const std::string& path) {
  try {
    find_checkpoint(path);
  } catch (const profiles::Error& error) {
    return error.text();
  }
  return {};
}

const SyntheticTensor kNorm{"model.norm.weight", DType::bf16, {8}};
const SyntheticTensor kHead{"lm_head.weight", DType::bf16, {16, 8}};

std::vector<SyntheticTensor> experts(int from, int to) {
  std::vector<SyntheticTensor> out;
  for (int i = from; i < to; ++i) {
    out.push_back({"model.layers.0.mlp.experts." + std::to_string(i) + ".up_proj.weight", DType::u8, {4, 8}});
  }
  return out;
}

TEST_CASE("experts that differ only in their number become one entry, across shards") {
  const TempDirectory directory;
  tests::write_safetensors(directory / "model-00001-of-00002.safetensors", experts(0, 3));
  std::vector<SyntheticTensor> rest = experts(3, 12);
  rest.push_back(kNorm);
  tests::write_safetensors(directory / "model-00002-of-00002.safetensors", rest);
  const TensorInventory inventory = read_inventory(directory.path().string(), Model{});
  CHECK(inventory.exact);
  REQUIRE(inventory.tensors.size() == 2);
  const Tensor& expert = inventory.tensors[0];
  CHECK(expert.name == "model.layers.0.mlp.experts.{}.up_proj.weight");
  CHECK(expert.role == Role::expert);
  CHECK(expert.expert_ids == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(inventory.tensor_count() == 13);
  CHECK(inventory.total() == Bytes(12 * 32 + 16));
}

TEST_CASE("experts of two precisions are two entries of one name") {
  const TempDirectory directory;
  tests::write_safetensors(directory / "model.safetensors", {{"m.experts.0.w1.weight", DType::u8, {4}},
                                                             {"m.experts.1.w1.weight", DType::bf16, {4}},
                                                             {"m.experts.2.w1.weight", DType::u8, {4}}});
  const TensorInventory inventory = read_inventory(directory.path().string(), Model{});
  REQUIRE(inventory.tensors.size() == 2);
  CHECK(inventory.tensors[0].expert_ids == std::vector<std::int32_t>{0, 2});
  CHECK(inventory.tensors[1].expert_ids == std::vector<std::int32_t>{1});
}

TEST_CASE("one file, its index, its config or its directory name the same checkpoint") {
  const TempDirectory directory;
  tests::write_safetensors(directory / "model.safetensors", {kNorm});
  directory.write("config.json", "{}");
  directory.write("hf_quant_config.json", "{}");
  for (const std::string& path : {directory.path().string(), directory / "model.safetensors", directory / "config.json"}) {
    const Checkpoint found = find_checkpoint(path);
    CHECK(found.files == std::vector<std::string>{directory / "model.safetensors"});
    CHECK(found.config == directory / "config.json");
    CHECK(found.quant_config == directory / "hf_quant_config.json");
    CHECK(found.revision.empty());
  }
}

TEST_CASE("the Hugging Face cache: refs/main names the snapshot, links lead to blobs") {
  const TempDirectory cache;
  const fs::path repository = cache.path() / "models--org--name";
  fs::create_directories(repository / "blobs");
  fs::create_directories(repository / "snapshots" / "abc");
  fs::create_directories(repository / "snapshots" / "old");
  tests::write_safetensors((repository / "blobs" / "sha").string(), {kNorm});
  fs::create_symlink("../../blobs/sha", repository / "snapshots" / "abc" / "model.safetensors");

  CHECK(find_refusal(repository.string()) == "error: the cache holds 2 snapshots of this model and no refs/main\n  --> " +
                                                 (repository / "snapshots").string() + "\n  help: name one: abc, old");
  cache.write("models--org--name/refs/main", "abc\n");
  const Checkpoint found = find_checkpoint(repository.string());
  CHECK(found.revision == "abc");
  CHECK(read_checkpoint(found, Model{}).inventory.total() == Bytes(16));
  CHECK(find_checkpoint((repository / "snapshots" / "abc").string()).revision == "abc");

  cache.write("models--org--name/refs/main", "gone");
  CHECK(find_refusal(repository.string()) == "error: the cache points to the revision gone, which is not there\n  --> " +
                                                 (repository / "refs" / "main").string() +
                                                 "\n  help: download the model again");
  cache.write("models--org--name/refs/main", "../../elsewhere");
  CHECK(find_refusal(repository.string()) ==
        "error: the reference holds no revision\n  --> " + (repository / "refs" / "main").string());
}

TEST_CASE("a shard the index names must be there, and lies beside the index") {
  const TempDirectory directory;
  tests::write_safetensors(directory / "a.safetensors", {kNorm});
  const std::string index =
      directory.write("model.safetensors.index.json",
                      R"({"weight_map":{"model.norm.weight":"a.safetensors","lm_head.weight":"b.safetensors"}})");
  CHECK(find_refusal(directory.path().string()) == "error: the shard b.safetensors is missing\n  --> " + index +
                                                       "\n  help: the download is not complete; fetch the missing files");
  fs::create_symlink("nowhere", directory / "b.safetensors");
  CHECK(find_refusal(directory.path().string()) ==
        "error: the shard b.safetensors is missing: its link leads nowhere\n  --> " + index +
            "\n  help: the download is not complete; fetch the missing files");
  directory.write("model.safetensors.index.json", R"({"weight_map":{"x":"../../etc/passwd"}})");
  CHECK(find_refusal(directory.path().string()) ==
        "error: the index names the file '../../etc/passwd', which is no plain file name\n  --> " + index +
            "\n  help: shards lie beside their index");
  directory.write("model.safetensors.index.json", R"({"weight_map":{"x":"a.safetensors","x":"a.safetensors"}})");
  CHECK(find_refusal(directory.path().string()) == "error: the index names the tensor 'x' twice\n  --> " + index);
  directory.write("model.safetensors.index.json", R"({"metadata":{"total_size":1}})");
  CHECK(find_refusal(directory.path().string()) == "error: the index has no 'weight_map'\n  --> " + index);
}

TEST_CASE("what an index claims and headers deny is reported; the headers win") {
  const TempDirectory directory;
  tests::write_safetensors(directory / "a.safetensors", {kNorm});
  tests::write_safetensors(directory / "b.safetensors", {kHead});
  tests::write_safetensors(directory / "mtp.safetensors", {{"mtp.fc.weight", DType::bf16, {2, 2}}});
  directory.write("model.safetensors.index.json",
                  R"({"metadata":{"total_size":0,"note":[{"deep":null}]},"weight_map":{"model.norm.weight":"b.safetensors",)"
                  R"("model.gone.weight":"a.safetensors"}})");
  const CheckpointReport report = read_checkpoint(find_checkpoint(directory.path().string()), Model{});
  CHECK(report.inventory.total() == Bytes(16 + 256));  // norm 8 x 2, head 16 x 8 x 2; mtp.safetensors is no part of it
  CHECK(report.findings == std::vector<std::string>{"1 tensor is in the index but in no file: model.gone.weight",
                                                    "1 tensor is in a file but not in the index: lm_head.weight",
                                                    "1 tensor is in another file than the index says: model.norm.weight",
                                                    "the index states a total_size of 0 bytes; the headers add up to 272",
                                                    "mtp.safetensors is not part of the checkpoint: engines skip it"});
}

TEST_CASE("a tensor in two files is an error, expert or not") {
  const TempDirectory directory;
  tests::write_safetensors(directory / "a.safetensors", {kNorm});
  tests::write_safetensors(directory / "b.safetensors", {kNorm});
  const std::string help = "\n  help: remove the file that does not belong to this checkpoint";
  CHECK_THROWS_WITH_AS(
      read_inventory(directory.path().string(), Model{}),
      ("error: the tensor 'model.norm.weight' is in two files\n  --> " + directory / "b.safetensors" + help).c_str(),
      profiles::Error);
  tests::write_safetensors(directory / "a.safetensors", experts(0, 3));
  tests::write_safetensors(directory / "b.safetensors", experts(2, 5));
  CHECK_THROWS_WITH_AS(read_inventory(directory.path().string(), Model{}),
                       ("error: the tensor 'model.layers.0.mlp.experts.2.up_proj.weight' is in two files" + help).c_str(),
                       profiles::Error);
}

TEST_CASE("Mistral's consolidated copy is not counted twice") {
  const TempDirectory directory;
  tests::write_safetensors(directory / "consolidated.safetensors", {kHead});
  CHECK(find_checkpoint(directory.path().string()).files.size() == 1);
  tests::write_safetensors(directory / "model.safetensors", {kHead});
  CHECK(find_checkpoint(directory.path().string()).files == std::vector<std::string>{directory / "model.safetensors"});
}

TEST_CASE("paths that hold no checkpoint") {
  const TempDirectory directory;
  CHECK(find_refusal(directory / "none") == "error: no such file or directory\n  --> " + directory / "none");
  CHECK(find_refusal(directory.path().string()) == "error: no safetensors files here\n  --> " + directory.path().string() +
                                                       "\n  help: give a directory that holds *.safetensors");
  fs::create_symlink("nowhere", directory / "link");
  CHECK(find_refusal(directory / "link") == "error: the link leads nowhere\n  --> " + directory / "link");
}

}  // namespace
}  // namespace kvfit::models
