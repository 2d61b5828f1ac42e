// How each quantisation method's block turns into formats of modules.
#include "models/quantization.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/quantization_reader.h"
#include "profiles/document.h"
#include "profiles/dtype.h"
#include "profiles/error.h"

namespace kvfit::models {
namespace {

Quantization read(const std::string& json, const std::string& sidecar = "", const std::string& text = "{}") {
  std::vector<std::string> assumed;
  const profiles::Node root = profiles::parse_json(text, "config.json");
  const profiles::Node block = profiles::parse_json(json.empty() ? "{}" : json, "config.json");
  const profiles::Node beside = profiles::parse_json(sidecar.empty() ? "{}" : sidecar, "hf_quant_config.json");
  return read_quantization(json.empty() ? nullptr : &block, sidecar.empty() ? nullptr : &beside, root, assumed);
}

std::string name(const Quantization& quantization, const std::string& module) {
  return format_name(format_of(quantization, module, profiles::DType::bf16));
}

std::string error_of(const std::string& json) {
  try {
    read(json);
  } catch (const profiles::Error& error) {
    return error.text();
  }
  return "no error";
}

TEST_CASE("a module's short name is the same in every wrapper") {
  for (const char* wrapped : {"model.language_model.layers.3.mlp.up_proj", "language_model.model.layers.3.mlp.up_proj",
                              "model.layers.3.mlp.up_proj", "backbone.layers.3.mlp.up_proj", "layers.3.mlp.up_proj"}) {
    CHECK_EQ(short_name(wrapped), "layers.3.mlp.up_proj");
  }
  CHECK_EQ(short_name("mtp.layers.0.fc"), "mtp.layers.0.fc");
  CHECK_EQ(short_name("lm_head"), "lm_head");
}

TEST_CASE("no block, no quantisation") {
  const Quantization none = read("");
  CHECK_EQ(none.method, "");
  CHECK_EQ(name(none, "model.layers.0.mlp.up_proj"), "bf16");
}

TEST_CASE("fp8 in blocks leaves the head, routers and what it lists alone") {
  const Quantization q = read(R"({"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic",
                                  "modules_to_not_convert": ["model.layers.0.linear_attn.in_proj_a", "visual"]})");
  const WeightFormat up = format_of(q, "model.layers.0.mlp.up_proj", profiles::DType::bf16);
  CHECK(up.format == Format::fp8_block);
  CHECK_EQ(up.block_rows, 128);
  CHECK_FALSE(up.static_activations);
  CHECK_EQ(name(q, "model.language_model.layers.0.linear_attn.in_proj_a"), "bf16");
  CHECK_EQ(name(q, "model.language_model.layers.1.linear_attn.in_proj_a"), "fp8_block");
  CHECK_EQ(name(q, "model.visual.blocks.3.attn.qkv"), "bf16");
  CHECK_EQ(name(q, "model.layers.3.mlp.gate"), "bf16");
  CHECK_EQ(name(q, "model.layers.3.mlp.gate_proj"), "fp8_block");
  CHECK_EQ(name(q, "lm_head"), "bf16");
}

TEST_CASE("modelopt: a number that runs into a star names all layers that start with it") {
  const Quantization q = read(R"({"quant_method": "modelopt", "quant_algo": "NVFP4",
                                  "ignore": ["lm_head", "model.layers.1*", "mtp*"], "kv_cache_scheme": {"num_bits": 8, "type": "float"}})");
  CHECK_EQ(name(q, "model.layers.1.mlp.up_proj"), "bf16");
  CHECK_EQ(name(q, "model.layers.17.mlp.up_proj"), "bf16");
  CHECK_EQ(name(q, "model.layers.2.mlp.up_proj"), "nvfp4");
  CHECK_EQ(name(q, "mtp.layers.0.mlp.up_proj"), "bf16");
  CHECK_EQ(q.kv_cache, "fp8");
}

TEST_CASE("modelopt mixed precision: only listed modules are quantised, children of a listed one too") {
  const Quantization q =
      read("", R"({"quantization": {"quant_algo": "MIXED_PRECISION", "kv_cache_quant_algo": "FP8", "quantized_layers": {
      "model.layers.0.mlp.experts": {"quant_algo": "W4A16_NVFP4", "group_size": 16},
      "model.layers.1.mlp.experts": {"quant_algo": "W4A16_NVFP4", "group_size": 16},
      "model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"}}}})");
  CHECK_EQ(q.method, "modelopt_mixed");
  CHECK_EQ(q.rules.size(), 6);  // two listed patterns, and four names of the embedding that no method quantises unasked
  CHECK_EQ(name(q, "model.layers.1.mlp.experts.77.down_proj"), "nvfp4_w4a16");
  CHECK_EQ(name(q, "model.layers.2.mlp.experts.77.down_proj"), "bf16");
  CHECK_EQ(name(q, "model.layers.0.self_attn.q_proj"), "fp8_tensor");
  CHECK_EQ(name(q, "model.layers.0.self_attn.k_proj"), "bf16");
  CHECK_EQ(name(q, "model.embed_tokens"), "bf16");
  CHECK_EQ(q.kv_cache, "fp8");
}

TEST_CASE("compressed-tensors: an ignored container does not exempt what it contains") {
  const Quantization q = read(R"({"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized",
      "ignore": ["lm_head", "model.layers.0.linear_attn", "re:.*mlp.gate$"],
      "config_groups": {"group_0": {"targets": ["Linear"],
        "weights": {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16, "symmetric": true},
        "input_activations": {"num_bits": 4, "type": "float", "dynamic": "local"}}}})");
  CHECK_EQ(name(q, "model.layers.0.linear_attn.out_proj"), "nvfp4");
  CHECK_EQ(name(q, "model.layers.0.mlp.gate"), "bf16");
  CHECK_EQ(name(q, "model.layers.0.mlp.gate_proj"), "nvfp4");
  CHECK_EQ(name(q, "lm_head"), "bf16");
  CHECK(format_of(q, "model.layers.0.mlp.up_proj", profiles::DType::bf16).static_activations);
}

TEST_CASE("compressed-tensors: int4 groups, int8 channels, fp8 channels and mxfp4") {
  const auto weights = [](const std::string& text) {
    return name(
        read(
            R"({"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {"g": {"targets": ["Linear"], "weights": )" +
            text + "}}}"),
        "model.layers.0.mlp.up_proj");
  };
  CHECK_EQ(weights(R"({"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128})"), "int4_pack-quantized");
  CHECK_EQ(weights(R"({"num_bits": 8, "type": "int", "strategy": "channel"})"), "int8_w8a16");
  CHECK_EQ(weights(R"({"num_bits": 8, "type": "float", "strategy": "channel"})"), "fp8_channel");
  CHECK_EQ(weights(R"({"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 64]})"), "fp8_block");
  CHECK_EQ(weights(R"({"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32})"), "mxfp4");
}

TEST_CASE("awq stores zero points unless told otherwise, gptq unless symmetric; neither touches the head") {
  const Quantization awq = read(
      R"({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true, "modules_to_not_convert": ["visual"]})");
  const WeightFormat up = format_of(awq, "model.layers.0.mlp.up_proj", profiles::DType::bf16);
  CHECK_EQ(format_name(up), "int4_awq");
  CHECK_FALSE(up.symmetric);
  CHECK_EQ(name(awq, "visual.blocks.0.mlp.up_proj"), "bf16");
  CHECK_EQ(name(awq, "lm_head"), "bf16");
  const Quantization gptq = read(R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": true, "desc_act": true,
      "dynamic": {"-:.*shared_expert.*": {}, "+:.*down_proj": {"bits": 8}}})");
  CHECK(format_of(gptq, "model.layers.0.mlp.up_proj", profiles::DType::bf16).act_order);
  CHECK_EQ(name(gptq, "model.layers.0.mlp.shared_expert.up_proj"), "bf16");
  CHECK_EQ(name(gptq, "model.layers.0.mlp.down_proj"), "int8_w8a16");
}

TEST_CASE("gpt-oss: only the experts are mxfp4") {
  const Quantization q = read(R"({"quant_method": "mxfp4", "modules_to_not_convert":
      ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]})");
  CHECK_EQ(name(q, "model.layers.7.mlp.experts.gate_up_proj"), "mxfp4");
  CHECK_EQ(name(q, "model.layers.7.self_attn.q_proj"), "bf16");
  CHECK_EQ(name(q, "model.layers.7.mlp.router"), "bf16");
}

TEST_CASE("DeepSeek-V4: experts in fp4 where the config says so") {
  const std::string block = R"({"quant_method": "fp8", "weight_block_size": [128, 128]})";
  CHECK_EQ(name(read(block, "", R"({"expert_dtype": "fp4"})"), "layers.3.ffn.experts.0.w1"), "mxfp4");
  CHECK_EQ(name(read(block), "layers.3.ffn.experts.0.w1"), "fp8_block");
}

TEST_CASE("mlx quantises head and embedding as well, and keeps settings by module") {
  const Quantization q = read(
      R"({"bits": 4, "group_size": 64, "language_model.lm_head": {"bits": 8, "group_size": 64}, "language_model.model.layers.0.mlp.gate": false})");
  CHECK_EQ(name(q, "language_model.lm_head"), "mlx_8bit");
  CHECK_EQ(name(q, "language_model.model.embed_tokens"), "mlx_4bit");
  CHECK_EQ(name(q, "language_model.model.layers.0.mlp.gate"), "bf16");
}

TEST_CASE("compressed-tensors: several groups, each with targets and a layout of its own") {
  const Quantization q = read(R"({"quant_method": "compressed-tensors", "format": "mixed-precision",
    "ignore": ["lm_head", "re:.*mlp\\.gate$"],
    "config_groups": {
      "group_0": {"targets": ["re:.*self_attn.*"], "format": "float-quantized",
                  "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}},
      "group_1": {"targets": ["re:.*mlp.*"], "format": "pack-quantized",
                  "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128}},
      "group_2": {"targets": ["re:.*nothing.*"], "weights": null}}})");
  CHECK_EQ(name(q, "model.layers.0.self_attn.q_proj"), "fp8_channel");
  CHECK_EQ(name(q, "model.layers.0.mlp.experts.3.up_proj"), "int4_pack-quantized");
  CHECK_EQ(name(q, "model.layers.0.mlp.gate"), "bf16");
  CHECK_EQ(name(q, "lm_head"), "bf16");
}

TEST_CASE("a block that speaks of the KV cache alone leaves the weights plain") {
  const Quantization modelopt = read(R"({"quant_method": "modelopt", "quant_algo": null, "kv_cache_quant_algo": "FP8"})");
  CHECK_EQ(name(modelopt, "model.layers.0.mlp.up_proj"), "bf16");
  CHECK_EQ(modelopt.kv_cache, "fp8");
  const Quantization dense = read(R"({"quant_method": "compressed-tensors", "format": "dense", "config_groups": {},
                                      "kv_cache_scheme": {"num_bits": 8, "type": "float"}})");
  CHECK_EQ(name(dense, "model.layers.0.mlp.up_proj"), "bf16");
  CHECK_EQ(dense.kv_cache, "fp8");
}

TEST_CASE("spellings of one method are one method") {
  CHECK_EQ(
      name(read(R"({"quant_method": "modelopt_fp8", "quant_algo": "FP8", "ignore": ["lm_head"]})"), "layers.0.mlp.up_proj"),
      "fp8_tensor");
  CHECK_EQ(name(read(R"({"quant_method": "modelopt_mxfp8", "quant_algo": "MXFP8", "ignore": ["lm_head"]})"),
                "layers.0.mlp.up_proj"),
           "mxfp8");
  CHECK_EQ(name(read(R"({"quant_method": "mxfp8", "modules_to_not_convert": ["self_attn"]})"), "layers.0.self_attn.q_proj"),
           "bf16");
  CHECK_EQ(read(R"({"quant_method": "compressed_tensors", "config_groups": {}})").method, "compressed-tensors");
}

// hqq: 4 bits and two numbers of 16 bits each 64 weights: 4.5. torchao: the same each 128: 4.25; the type of the weight
// stands last in a name. gptq of 3 bits: a scale of 16 and a zero point of 3 bits each 128: 3.1484375. aqlm: 16 bits name 8
// weights.
TEST_CASE("methods whose tensors are not modelled are priced by their average bits") {
  const auto bits = [](const std::string& json) {
    return format_of(read(json), "model.layers.0.mlp.up_proj", profiles::DType::bf16).average_bits;
  };
  CHECK_EQ(bits(R"({"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64}}})"), 4.5);
  CHECK_EQ(
      bits(
          R"({"quant_method": "hqq", "quant_config": {"mlp.up_proj": {"weight_quant_params": {"nbits": 2, "group_size": 16}}}})"),
      4);
  CHECK_EQ(bits(R"({"quant_method": "torchao",
                    "quant_type": {"default": {"_type": "Int4WeightOnlyConfig", "_data": {"group_size": 128}}}})"),
           4.25);
  CHECK_EQ(
      bits(R"({"quant_method": "torchao", "quant_type": {"default": {"_type": "Int8DynamicActivationInt4WeightConfig"}}})"),
      4.25);
  CHECK_EQ(bits(R"({"quant_method": "torchao", "quant_type": "int8_weight_only"})"), 8);
  CHECK_EQ(bits(R"({"quant_method": "gptq", "bits": 3, "group_size": 128, "sym": true})"), 3.1484375);
  CHECK_EQ(bits(R"({"quant_method": "aqlm", "in_group_size": 8, "nbits_per_codebook": 16, "num_codebooks": 1})"), 2);
  CHECK_EQ(bits(R"({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp6_e2m3", "group_size": 32}}})"),
           6.25);
}

TEST_CASE("quark may quantise named layers only; auto-round gives some modules other bits") {
  const Quantization quark = read(R"({"quant_method": "quark", "global_quant_config": {"weight": null},
                                      "layer_quant_config": {"*.mlp.*": {"weight": {"dtype": "fp8_e4m3", "qscheme": "per_channel"}}}})");
  CHECK_EQ(name(quark, "model.layers.0.mlp.up_proj"), "fp8_channel");
  CHECK_EQ(name(quark, "model.layers.0.self_attn.q_proj"), "bf16");
  const Quantization rounded = read(R"({"quant_method": "auto-round", "bits": 4, "group_size": 128,
    "packing_format": "auto_round:auto_gptq",
    "extra_config": {"model.layers.0.mlp.down_proj": {"bits": 8}, "model.layers.1.mlp.down_proj": {"bits": 16}}})");
  CHECK_EQ(name(rounded, "model.layers.0.mlp.down_proj"), "int8_w8a16");
  CHECK_EQ(name(rounded, "model.layers.1.mlp.down_proj"), "bf16");
  CHECK_EQ(name(rounded, "model.layers.2.mlp.down_proj"), "int4_gptq");
}

TEST_CASE("an unknown method keeps its name and the format 'other'") {
  const Quantization q = read(R"({"quant_method": "tomorrow", "bits": 3})");
  CHECK_EQ(name(q, "model.layers.0.mlp.up_proj"), "tomorrow");
  CHECK(q.base.format == Format::other);
}

TEST_CASE("errors of quantisation blocks say where and what is known") {
  CHECK_EQ(error_of(R"({"quant_method": "fp8", "weight_block_size": [128]})"),
           "error: expected two numbers, rows and columns of a block\n"
           "  --> config.json:1:46  (weight_block_size)\n"
           " 1 | {\"quant_method\": \"fp8\", \"weight_block_size\": [128]}\n"
           "   |                                              ^");
  CHECK_EQ(error_of(R"({"quant_method": "modelopt", "quant_algo": "NVFP5"})"),
           "error: unknown quant_algo 'NVFP5'\n"
           "  --> config.json:1:44  (quant_algo)\n"
           " 1 | {\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP5\"}\n"
           "   |                                            ^\n"
           "  help: known: FP8, FP8_PER_CHANNEL_PER_TOKEN, FP8_PB_WO, FP8_PB_REAL, NVFP4, NVFP4_AWQ, NVFP4_SVD, W4A4_NVFP4, "
           "W4A16_NVFP4, W4A8_NVFP4_FP8, MXFP8, MXFP4, W4A8_MXFP4_FP8, W4A16_AWQ, INT4_AWQ, W4A8_AWQ, W8A8_SQ_PER_CHANNEL, "
           "W8A16, "
           "MIXED_PRECISION");
  CHECK_EQ(error_of(R"({"quant_method": "compressed-tensors", "ignore": ["re:("]})"),
           "error: cannot use the regular expression '(': missing ')' at character 2\n"
           "  --> config.json:1:51  (ignore[0])\n"
           " 1 | {\"quant_method\": \"compressed-tensors\", \"ignore\": [\"re:(\"]}\n"
           "   |                                                   ^");
}

}  // namespace
}  // namespace kvfit::models
