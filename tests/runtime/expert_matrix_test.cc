#include "runtime/expert_matrix.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/synthetic_checkpoint.h"
#include "tests/support/temp_directory.h"

namespace kvfit::runtime {
namespace {

using profiles::DType;

std::vector<models::SafetensorsHeader> headers(const std::string& path) {
  std::vector<models::SafetensorsHeader> out;
  out.push_back(models::read_safetensors_header(path));
  return out;
}

TEST_CASE("ModelOpt's layout: half the columns in U8, a scale for 16, and a factor") {
  const tests::TempDirectory directory;
  const std::string path = directory / "model.safetensors";
  const std::string module = "model.layers.0.mlp.experts.3.down_proj";
  tests::write_safetensors(path,
                           {{"model.layers.0.self_attn.q_proj.weight", DType::u8, {8, 16}},
                            {module + ".weight", DType::u8, {8, 16}},
                            {module + ".weight_scale", DType::f8_e4m3, {8, 2}},
                            {module + ".weight_scale_2", DType::f32, {}}},
                           true);
  const std::optional<ExpertMatrix> found = find_expert_matrix(headers(path));
  REQUIRE(found);
  CHECK(found->tensor == module + ".weight");
  CHECK(found->rows == 8);
  CHECK(found->columns == 32);
  CHECK(found->weights.size() == 128);
  CHECK(found->scales.size() == 16);
  CHECK(static_cast<unsigned char>(found->weights[5]) == tests::synthetic_byte(module + ".weight", 5));
}

TEST_CASE("compressed-tensors names the weight packed, and divides by its global scale") {
  const tests::TempDirectory directory;
  const std::string path = directory / "model.safetensors";
  const std::string module = "model.layers.0.mlp.experts.0.up_proj";
  tests::write_safetensors(path, {{module + ".weight_packed", DType::u8, {4, 8}},
                                  {module + ".weight_scale", DType::f8_e4m3, {4, 1}},
                                  {module + ".weight_global_scale", DType::f32, {1}}});
  const std::optional<ExpertMatrix> found = find_expert_matrix(headers(path));
  REQUIRE(found);
  CHECK(found->columns == 16);
  CHECK(found->tensor == module + ".weight_packed");
}

TEST_CASE("a checkpoint without an expert in NVFP4 has no such matrix") {
  const tests::TempDirectory directory;
  const std::string path = directory / "model.safetensors";
  tests::write_safetensors(path, {{"model.layers.0.mlp.experts.0.up_proj.weight", DType::bf16, {4, 16}}});
  CHECK_FALSE(find_expert_matrix(headers(path)));
}

}  // namespace
}  // namespace kvfit::runtime
