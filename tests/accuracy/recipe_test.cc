#include "tests/accuracy/recipe.h"

#include <doctest/doctest.h>

namespace kvfit::accuracy {
namespace {

models::Model plain_model() {
  models::Model model;
  model.layers.resize(2);
  for (models::Layer& layer : model.layers) layer.dense = models::DenseFeedForward{.intermediate = 64};
  return model;
}

models::Model fp8_model() {
  models::Model model = plain_model();
  model.quantization.method = "fp8";
  model.quantization.base.format = models::Format::fp8_block;
  return model;
}

models::Format base(const models::Model& entry, bool exact, const char* model, const char* quant) {
  return recipe_of(entry, exact, model, quant).quantization.base.format;
}

TEST_CASE("words lay a format over a plain architecture") {
  CHECK(base(plain_model(), false, "org/M-AWQ", "awq") == models::Format::int4);
  CHECK_FALSE(recipe_of(plain_model(), false, "org/M-AWQ", "awq").quantization.base.symmetric);
  CHECK(base(plain_model(), false, "org/M-quantized.w8a8", "compressed-tensors") == models::Format::int8);
  CHECK(base(plain_model(), false, "org/M-fp8-dynamic", "compressed-tensors") == models::Format::fp8_channel);
  CHECK(base(plain_model(), true, "org/M", "fp8") == models::Format::fp8_tensor);
  CHECK(base(plain_model(), false, "org/M-NVFP4", "nvfp4 (mixed with fp8)") == models::Format::nvfp4);
  CHECK(base(plain_model(), true, "org/M", "none (bf16)") == models::Format::plain);
}

TEST_CASE("an entry that stores the format named keeps its own quantisation") {
  CHECK(base(fp8_model(), true, "org/M-FP8", "fp8") == models::Format::fp8_block);
  CHECK(recipe_of(fp8_model(), true, "org/M-FP8", "fp8").known);
  CHECK_FALSE(recipe_of(fp8_model(), false, "other/M-FP8", "fp8").known);
  CHECK(base(fp8_model(), false, "org/M", "none (bf16)") == models::Format::plain);
}

TEST_CASE("bytes of some formats are not known from their name") {
  CHECK_FALSE(recipe_of(plain_model(), false, "M EXL3", "exl3").priced);
  CHECK_FALSE(recipe_of(plain_model(), false, "M", "4-bit (which is not in the excerpt)").priced);
}

}  // namespace
}  // namespace kvfit::accuracy
