// Derived == read: what a config leads one to expect is written as a checkpoint, read back from headers, and compared name
// by name, shape by shape. Every published config in tests/data is a case, and every quantised layout.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "models/checkpoint.h"
#include "models/config_reader.h"
#include "models/inspect.h"
#include "models/tensor_inventory.h"
#include "models/weight_layout.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "tests/support/synthetic_checkpoint.h"
#include "tests/support/temp_directory.h"

namespace kvfit::models {
namespace {

namespace fs = std::filesystem;
using profiles::DType;

const fs::path kData(KVFIT_TEST_DATA);

Model read(const fs::path& config) {
  const profiles::Node document =
      profiles::parse_json(profiles::read_text_file(config.string()), config.filename().string());
  const std::string file = config.filename().string();
  const std::string stem = file.ends_with(".config.json") ? file.substr(0, file.size() - 12) : config.stem().string();
  const fs::path sidecar = config.parent_path() / (stem + ".hf_quant_config.json");
  if (!fs::exists(sidecar)) return read_config(document, nullptr, stem);
  const profiles::Node quantization =
      profiles::parse_json(profiles::read_text_file(sidecar.string()), sidecar.filename().string());
  return read_config(document, &quantization, stem);
}

std::vector<fs::path> published_configs() {
  std::vector<fs::path> out;
  for (const char* folder : {"configs", "indexes"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(kData / folder)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".json") && !name.ends_with(".hf_quant_config.json")) out.push_back(entry.path());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Two layers of each kind are a checkpoint of the same names with fewer numbers.
Model shortened(Model model) {
  std::set<std::string> kinds;
  std::vector<Layer> layers;
  for (const Layer& layer : model.layers) {
    std::string kind = layer.recurrent ? "r" : "";
    if (layer.attention)
      kind += std::to_string(static_cast<int>(layer.attention->kind)) + (layer.attention->k_is_v ? "v" : "");
    kind += layer.dense ? "d" : "";
    kind += layer.moe ? "m" : "";
    if (kinds.insert(kind).second || layers.size() < 2) layers.push_back(layer);
  }
  model.layers = layers;
  return model;
}

TEST_CASE("what is derived from a published config is what its headers would say") {
  const std::vector<fs::path> configs = published_configs();
  REQUIRE(configs.size() > 60);
  for (const fs::path& config : configs) {
    CAPTURE(config.filename().string());
    const Model model = shortened(read(config));
    const TensorInventory derived = derive_inventory(model);
    CHECK_FALSE(derived.exact);
    const tests::TempDirectory directory;
    tests::write_checkpoint(derived, directory.path().string(), {.shards = 3});
    const CheckpointReport report = read_checkpoint(find_checkpoint(directory.path().string()), model);
    CHECK(report.findings == std::vector<std::string>{});
    CHECK(differences(derived, report.inventory) == std::vector<std::string>{});
    CHECK(report.inventory.exact);
    CHECK(report.inventory.total() == derived.total());
    REQUIRE(report.inventory.tensors.size() == derived.tensors.size());
    for (std::size_t i = 0; i < derived.tensors.size(); ++i) {
      CHECK(report.inventory.tensors[i].role == derived.tensors[i].role);
      CHECK(report.inventory.tensors[i].layer == derived.tensors[i].layer);
    }
  }
}

TEST_CASE("roles sum to the whole, and nothing a family names is without a role") {
  for (const fs::path& config : published_configs()) {
    CAPTURE(config.filename().string());
    const Model model = read(config);
    const TensorInventory derived = derive_inventory(model);
    Bytes sum;
    for (int role = 0; role <= static_cast<int>(Role::other); ++role) sum += derived.total(static_cast<Role>(role));
    CHECK(sum == derived.total());
    for (const Tensor& tensor : derived.tensors) {
      const bool unnamed = tensor.name.find("(unnamed)") != std::string::npos;
      const bool beside =
          tensor.name.find("per_layer") != std::string::npos || tensor.name.find("latent_proj") != std::string::npos;
      if (tensor.role == Role::other && !unnamed && !beside) FAIL_CHECK(tensor.name);
    }
  }
}

TEST_CASE("names are unique and in order") {
  for (const fs::path& config : published_configs()) {
    CAPTURE(config.filename().string());
    const TensorInventory derived = derive_inventory(read(config));
    const auto not_ascending = std::adjacent_find(derived.tensors.begin(), derived.tensors.end(),
                                                  [](const Tensor& a, const Tensor& b) { return a.name >= b.name; });
    CHECK(not_ascending == derived.tensors.end());
  }
}

TEST_CASE("fewer experts: every expert tensor shrinks, nothing else but the router's rows does") {
  const Model whole = read(kData / "configs" / "Qwen3.6-35B-A3B-NVFP4.json");
  const TensorInventory before = derive_inventory(whole);
  const TensorInventory after = derive_inventory(with_experts(whole, 128));
  // Trunk and draft routers are [experts, 2048] bf16 in 41 layers; experts halve exactly.
  CHECK(after.total(Role::expert) + after.total(Role::expert) == before.total(Role::expert));
  CHECK(before.total(Role::router) - after.total(Role::router) == Bytes(40 * 128 * 2048 * 2));
  CHECK(after.total(Role::attention) == before.total(Role::attention));
  CHECK(after.total(Role::shared_expert) == before.total(Role::shared_expert));
}

TEST_CASE("inspection: roles, formats, counts and what the config did not lead one to expect") {
  const tests::TempDirectory directory;
  const fs::path config = kData / "indexes" / "Llama-3.1-8B-Instruct-NVFP4.config.json";
  TensorInventory inventory = derive_inventory(read(config));
  const auto head = std::find_if(inventory.tensors.begin(), inventory.tensors.end(),
                                 [](const Tensor& tensor) { return tensor.name == "lm_head.weight"; });
  REQUIRE(head != inventory.tensors.end());
  head->dtype = DType::f16;
  tests::write_checkpoint(inventory, directory.path().string());
  fs::copy(config, directory / "config.json");
  fs::copy(kData / "indexes" / "Llama-3.1-8B-Instruct-NVFP4.hf_quant_config.json", directory / "hf_quant_config.json");

  const Inspection seen = inspect(directory.path().string());
  CHECK(seen.layers == 32);
  CHECK(seen.experts == 0);
  CHECK(seen.findings.empty());
  CHECK_FALSE(seen.underivable);
  CHECK(seen.differences ==
        std::vector<std::string>{"+ lm_head.weight F16 [128256,4096]", "- lm_head.weight BF16 [128256,4096]"});
  Bytes sum;
  for (const RoleSummary& role : seen.roles) {
    Bytes dtypes;
    for (const RoleSummary::Share& share : role.dtypes) dtypes += share.bytes;
    CHECK(dtypes == role.bytes);
    sum += role.bytes;
    if (role.role == Role::dense_mlp) {
      CHECK(role.tensors == 32 * 3 * 4);
      CHECK(role.formats == std::vector<std::string>{"nvfp4"});
      // 32 layers x 3 matrices of 4096 x 14336: half a byte a weight, a scale byte each 16, two fp32 scalars.
      CHECK(role.bytes == Bytes(std::int64_t{96} * (4096 * 14336 / 2 + 4096 * 14336 / 16 + 8)));
    }
    if (role.role == Role::embedding) CHECK(role.formats == std::vector<std::string>{"bf16"});
  }
  CHECK(sum == seen.inventory.total());
}

TEST_CASE("inspection without a config knows names and sizes only") {
  const tests::TempDirectory directory;
  tests::write_safetensors(directory / "model.safetensors",
                           {{"model.layers.3.mlp.experts.7.up_proj.weight", DType::u8, {2, 2}}});
  const Inspection seen = inspect(directory.path().string());
  CHECK_FALSE(seen.model);
  CHECK(seen.layers == 1);
  CHECK(seen.experts == 8);
  REQUIRE(seen.roles.size() == 1);
  CHECK(seen.roles[0].role == Role::expert);
  CHECK(seen.roles[0].formats.empty());
  CHECK(seen.underivable == "no config.json lies beside the weights");
}

}  // namespace
}  // namespace kvfit::models
