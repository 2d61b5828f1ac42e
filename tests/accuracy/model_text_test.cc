#include "tests/accuracy/model_text.h"

#include <doctest/doctest.h>

namespace kvfit::accuracy {
namespace {

const std::vector<NamedEntry> kEntries = {
    {"qwen3.8-27b", {"Qwen/Qwen3.8-27B"}},
    {"qwen3.8-27b-fp8", {"Qwen/Qwen3.8-27B-FP8"}},
    {"qwen3.6-27b-nvfp4-unsloth", {"unsloth/Qwen3.6-27B-NVFP4"}},
    {"qwen3.6-27b", {"Qwen/Qwen3.6-27B"}},
    {"qwen2.5-7b", {"Qwen/Qwen2.5-7B"}},
    {"qwen2.5-7b-instruct", {"Qwen/Qwen2.5-7B-Instruct"}},
    {"qwen2.5-vl-7b-instruct", {"Qwen/Qwen2.5-VL-7B-Instruct"}},
    {"deepseek-v4-flash", {"deepseek-ai/DeepSeek-V4-Flash"}},
    {"glm-5.2", {"zai-org/GLM-5.2"}},
    {"gemma-4-31b-it", {"google/gemma-4-31B-it"}},
    {"qwen3.6-35b-a3b", {"Qwen/Qwen3.6-35B-A3B"}},
};

std::string found(std::string_view text, std::string_view quant = "") {
  const std::optional<Match> match = find_model(kEntries, text, quant);
  return match ? match->id : "-";
}

TEST_CASE("the very checkpoint wins, and says so") {
  CHECK(found("Qwen/Qwen3.8-27B-FP8") == "qwen3.8-27b-fp8");
  CHECK(find_model(kEntries, "Qwen/Qwen3.8-27B-FP8", "")->exact);
  CHECK(found("Qwen2.5-7B-Instruct") == "qwen2.5-7b-instruct");
}

TEST_CASE("a quantised variant falls back to the architecture's plain entry") {
  CHECK(found("Inferact/Qwen3.8-27B-NVFP4", "nvfp4 (uniform W4A4)") == "qwen3.8-27b");
  CHECK_FALSE(find_model(kEntries, "Inferact/Qwen3.8-27B-NVFP4", "")->exact);
  CHECK(found("qwen2-5-vl-7b-instruct-awq", "awq") == "qwen2.5-vl-7b-instruct");
  CHECK(found("Qwen3.8-27B int4 W4A16 + DFlash2 x4") == "qwen3.8-27b");
  CHECK(found("Gemma 4 31B with its MTP drafter") == "gemma-4-31b-it");
  CHECK(found("DeepSeek-V4-Flash-0731") == "deepseek-v4-flash");
  CHECK(found("Qwen3.8-27B class") == "qwen3.8-27b");
  CHECK(found("qwen3.6-35b int4") == "qwen3.6-35b-a3b");  // the active size is often left out
}

TEST_CASE("a variant stored in the same format is preferred to the plain entry") {
  CHECK(found("someone/Qwen3.6-27B-NVFP4", "nvfp4") == "qwen3.6-27b-nvfp4-unsloth");
  CHECK(found("Qwen3.8-27B FP8", "fp8") == "qwen3.8-27b-fp8");
}

TEST_CASE("a fine-tune is priced as the base whose name and size it carries") {
  CHECK(found("someone/Hermes-4-Qwen2.5-7B") == "qwen2.5-7b");
  CHECK_FALSE(find_model(kEntries, "someone/Hermes-4-Qwen2.5-7B", "")->exact);
  CHECK(found("someone/DeepSeek-V4-Flash-finetuned") == "deepseek-v4-flash");  // no size in the name
  CHECK(found("someone/GLM-5.2-merge") == "glm-5.2");
  CHECK(found("someone/Qwen2.5-7B-MoE-4x") == "-");
  CHECK(found("someone/Eagle-Qwen2.5-7B") == "-");
}

TEST_CASE("another version or size is another model") {
  CHECK(found("deepseek-ai/DeepSeek-V4.1-Flash") == "-");
  CHECK(found("Gemma 4 (19 GB package, gemma4.env)") == "-");
  CHECK(found("Qwen2.5-VL-72B") == "-");
}

TEST_CASE("a pruned model keeps its count of experts") {
  CHECK(read_model_text("GLM-5.2 NVFP4, pruned to 172 experts").experts == 172);
  CHECK(found("GLM-5.2 NVFP4, pruned to 172 experts") == "glm-5.2");
  CHECK(read_model_text("DeepSeek-V4 REAP k160 with MTP drafter").experts == 160);
  CHECK(read_model_text("GLM-5.3-Flash-REAP256-EXL3-2bpw").experts == 256);
}

}  // namespace
}  // namespace kvfit::accuracy
