// Configs that cannot be used: each gives one error, told whole.
#include <doctest/doctest.h>

#include <string>

#include "models/config_reader.h"
#include "profiles/document.h"
#include "profiles/error.h"

namespace kvfit::models {
namespace {

std::string error_of(const std::string& json) {
  try {
    read_config(profiles::parse_json(json, "config.json"), nullptr, "x");
  } catch (const profiles::Error& error) {
    return error.text();
  }
  return "no error";
}

const std::string kRest =
    R"("hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 512})";

TEST_CASE("the smallest Llama needs no more than these keys") {
  CHECK_EQ(error_of(R"({"model_type": "llama", )" + kRest), "no error");
}

TEST_CASE("a config without model_type") {
  CHECK_EQ(error_of("{\"hidden_size\": 64}"),
           "error: missing key 'model_type'\n"
           "  --> config.json:1:1\n"
           " 1 | {\"hidden_size\": 64}\n"
           "   | ^\n"
           "  help: without it kvfit cannot know how the model is built; write a model spec in YAML instead");
}

TEST_CASE("a missing number names the spellings that were looked for") {
  CHECK_EQ(
      error_of("{\"model_type\": \"llama\", \"hidden_size\": 64,\n \"vocab_size\": 100, \"max_position_embeddings\": 512}"),
      "error: missing key 'num_hidden_layers'\n"
      "  --> config.json:1:1\n"
      " 1 | {\"model_type\": \"llama\", \"hidden_size\": 64,\n"
      "   | ^\n"
      "  help: model_type 'llama' has no default for it; kvfit looks for: num_hidden_layers, n_layers, num_layers, n_layer");
}

TEST_CASE("wrong types and absurd numbers stop at the value") {
  CHECK_EQ(error_of("{\"model_type\": \"llama\",\n \"hidden_size\": \"wide\"}"),
           "error: expected a whole number, found text\n"
           "  --> config.json:2:17  (hidden_size)\n"
           " 2 |  \"hidden_size\": \"wide\"}\n"
           "   |                 ^");
  CHECK_EQ(error_of("{\"model_type\": \"llama\",\n \"hidden_size\": -64}"),
           "error: -64 is out of range: 1 to 1048576 is allowed\n"
           "  --> config.json:2:17  (hidden_size)\n"
           " 2 |  \"hidden_size\": -64}\n"
           "   |                 ^");
  CHECK_EQ(
      error_of("{\"num_hidden_layers\": 2000000000,\n\"model_type\": \"llama\", \"hidden_size\": 64, \"vocab_size\": 1, "
               "\"max_position_embeddings\": 1}"),
      "error: 2000000000 is out of range: 1 to 2048 is allowed\n"
      "  --> config.json:1:23  (num_hidden_layers)\n"
      " 1 | {\"num_hidden_layers\": 2000000000,\n"
      "   |                       ^");
}

TEST_CASE("a list that is shorter than the model") {
  CHECK_EQ(error_of("{\"layer_types\": [\"full_attention\"],\n\"model_type\": \"llama\", " + kRest),
           "error: the list describes 1 layers, but num_hidden_layers is 2\n"
           "  --> config.json:1:17  (layer_types)\n"
           " 1 | {\"layer_types\": [\"full_attention\"],\n"
           "   |                 ^");
}

TEST_CASE("a kind of layer nobody knows") {
  CHECK_EQ(error_of("{\"layer_types\": [\"full_attention\", \"psychic\"],\n\"model_type\": \"llama\", " + kRest),
           "error: unknown kind of layer 'psychic'\n"
           "  --> config.json:1:36  (layer_types[1])\n"
           " 1 | {\"layer_types\": [\"full_attention\", \"psychic\"],\n"
           "   |                                    ^\n"
           "  help: known: full_attention, sliding_attention, chunked_attention, linear_attention, mamba, conv, moe, mlp");
}

TEST_CASE("heads that do not divide, and a router that picks more experts than there are") {
  CHECK_EQ(error_of("{\"model_type\": \"llama\", \"num_key_value_heads\": 3,\n" + kRest),
           "error: 4 query heads do not divide into 3 key-value heads\n"
           "  --> config.json:1:1\n"
           " 1 | {\"model_type\": \"llama\", \"num_key_value_heads\": 3,\n"
           "   | ^");
  CHECK_EQ(error_of("{\"num_experts_per_tok\": 9, \"num_local_experts\": 8,\n\"model_type\": \"mixtral\",\n" + kRest),
           "error: the router picks 9 of 8 experts a token: expected 1 to 8\n"
           "  --> config.json:1:25  (num_experts_per_tok)\n"
           " 1 | {\"num_experts_per_tok\": 9, \"num_local_experts\": 8,\n"
           "   |                         ^");
}

TEST_CASE("sliding layers without a window") {
  CHECK_EQ(error_of("{\"layer_types\": [\"full_attention\", \"sliding_attention\"],\n\"model_type\": \"llama\", " + kRest),
           "error: missing key 'sliding_window'\n"
           "  --> config.json:1:1\n"
           " 1 | {\"layer_types\": [\"full_attention\", \"sliding_attention\"],\n"
           "   | ^\n"
           "  help: model_type 'llama' has no default for it; kvfit looks for: sliding_window, sliding_window_size");
}

TEST_CASE("an unknown dtype") {
  CHECK_EQ(error_of("{\"torch_dtype\": \"float7\", \"model_type\": \"llama\",\n" + kRest),
           "error: unknown dtype 'float7'\n"
           "  --> config.json:1:17  (torch_dtype)\n"
           " 1 | {\"torch_dtype\": \"float7\", \"model_type\": \"llama\",\n"
           "   |                 ^\n"
           "  help: for example: bfloat16, float16, float32");
}

TEST_CASE("more layers share a cache than there are") {
  CHECK_EQ(error_of("{\"num_kv_shared_layers\": 2, \"model_type\": \"llama\",\n" + kRest),
           "error: num_kv_shared_layers is 2, but there are only 2 layers\n"
           "  --> config.json:1:1\n"
           " 1 | {\"num_kv_shared_layers\": 2, \"model_type\": \"llama\",\n"
           "   | ^");
}

}  // namespace
}  // namespace kvfit::models
