// What published configs are read as: one canonical line a model (tests/data/configs/expected.txt). Each line was checked by
// hand against the config and the model's page; the files hold the published keys that matter here.
#include "models/config_reader.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

#include "models/describe.h"
#include "profiles/document.h"
#include "profiles/error.h"

namespace kvfit::models {
namespace {

const std::string kConfigs = std::string(KVFIT_TEST_DATA) + "/configs/";

Model read(const std::string& name) {
  const profiles::Node config = profiles::parse_json(profiles::read_text_file(kConfigs + name + ".json"), "config.json");
  const std::string beside = kConfigs + name + ".hf_quant_config.json";
  if (!std::filesystem::exists(beside)) return read_config(config, nullptr, name);
  const profiles::Node sidecar = profiles::parse_json(profiles::read_text_file(beside), "hf_quant_config.json");
  return read_config(config, &sidecar, name);
}

std::string error_of(const std::string& json) {
  try {
    read_config(profiles::parse_json(json, "config.json"), nullptr, "x");
  } catch (const profiles::Error& error) {
    return error.text();
  }
  return "no error";
}

TEST_CASE("published configs are read as the models they are") {
  std::istringstream expected(profiles::read_text_file(kConfigs + "expected.txt"));
  int count = 0;
  for (std::string line; std::getline(expected, line);) {
    const std::size_t colon = line.find(": ");
    REQUIRE(colon != std::string::npos);
    const std::string name = line.substr(0, colon);
    CAPTURE(name);
    CHECK_EQ(describe(read(name)), line.substr(colon + 2));
    ++count;
  }
  CHECK_GE(count, 38);
}

TEST_CASE("an unknown model_type is refused, with the nearest known one") {
  CHECK_EQ(error_of(R"({"model_type": "qwen3_mo", "hidden_size": 64})"),
           "error: unknown model_type 'qwen3_mo'\n"
           "  --> config.json:1:16  (model_type)\n"
           " 1 | {\"model_type\": \"qwen3_mo\", \"hidden_size\": 64}\n"
           "   |                ^\n"
           "  help: did you mean 'qwen3_moe'? Otherwise kvfit does not know its layers, norms and defaults; describe the "
           "model in a YAML spec (docs/model-spec.md) and pass it with --model FILE");
}

}  // namespace
}  // namespace kvfit::models
