#include "models/quantization_reader.h"

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/quantization_parts.h"
#include "models/quantization_rules.h"
#include "profiles/document.h"
#include "profiles/spelling.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::format;
using profiles::lower;
using profiles::Node;
using Match = FormatRule::Match;

std::string text_at(const Node* map, std::string_view key) {
  const Node* node = map ? map->find(key) : nullptr;
  return node && node->is_string() ? node->string() : "";
}

bool flag_at(const Node& map, std::string_view key, bool fallback) {
  const Node* node = map.find(key);
  return node ? node->boolean() : fallback;
}

// Modules that no method quantises unless a list of the checkpoint says so.
void exempt_ends(RuleList& rules, bool head) {
  for (const char* name : {"embed_tokens", "embeddings", "word_embeddings", "wte"}) rules.exempt(name, Match::module);
  if (head) rules.exempt("lm_head", Match::module);
}

void read_fp8(const Node& map, const Node& root, Quantization& out, RuleList& rules) {
  out.base = fp8_format(map);
  rules.exempt_all(map.find("modules_to_not_convert"), Match::module);
  rules.exempt_all(map.find("ignored_layers"), Match::module);
  exempt_ends(rules, true);
  rules.exempt("mlp.gate", Match::module);
  // DeepSeek-V4: experts in FP4 with a power-of-two scale each 32 inputs, everything else FP8.
  if (lower(text_at(&root, "expert_dtype")) != "fp4" || map.find("quantized_layers")) return;
  WeightFormat experts = group_format(Format::mxfp4, 4, 32);
  experts.layout = "deepseek-v4";
  rules.assign(".experts.", Match::contains, experts);
}

void read_grouped_int(const Node& map, const std::string& layout, Quantization& out, RuleList& rules) {
  const int bits = static_cast<int>(map.at(map.has("bits") ? "bits" : "w_bit").integer(1, 16));
  const Node* group = map.find(map.has("group_size") ? "group_size" : "q_group_size");
  const std::int64_t size = group ? group->integer(-1, 1 << 16) : 128;
  out.base = group_format(bits == 8 ? Format::int8 : Format::int4, bits, size < 0 ? 0 : static_cast<int>(size));
  if (bits != 4 && bits != 8)
    out.base = packed_format(layout, bits + (size > 0 ? (16.0 + bits) / static_cast<double>(size) : 0));
  out.base.activations = false;
  out.base.layout = layout;
  out.base.symmetric = layout == "awq" ? !flag_at(map, "zero_point", true) : flag_at(map, "sym", true);
  out.base.act_order = flag_at(map, "desc_act", false);
  const Node* head = map.find("lm_head");
  exempt_ends(rules, !(head && head->is_boolean() && head->boolean()));
  for (const char* name :
       {"visual", "vision_tower", "vision_model", "multi_modal_projector", "mlp.gate", "router", "shared_expert_gate"}) {
    rules.exempt(name, Match::module);
  }
  rules.exempt_all(map.find("modules_to_not_convert"), Match::module);
  rules.exempt_all(map.find("modules_in_block_to_not_quantize"), Match::module);
}

// GPTQModel's `dynamic`: "-:regex" leaves modules alone, "+:regex" or "regex" gives them other bits.
void read_gptq_dynamic(const Node& map, Quantization& out, RuleList& rules) {
  const Node* dynamic = map.find("dynamic");
  if (!dynamic || !dynamic->is_map()) return;
  for (const auto& [key, value] : dynamic->members()) {
    const bool exempt = key.starts_with("-:");
    const std::string pattern = exempt || key.starts_with("+:") ? key.substr(2) : key;
    WeightFormat weight = out.base;
    if (!exempt && value.is_map() && value.has("bits")) {
      weight.bits = static_cast<int>(value.at("bits").integer(1, 16));
      weight.format = weight.bits == 8 ? Format::int8 : weight.bits == 4 ? Format::int4 : Format::other;
    }
    rules.add_regex_text(pattern, value, exempt, weight);
  }
}

void read_auto_round(const Node& map, Quantization& out, RuleList& rules) {
  const std::string packing = text_at(&map, "packing_format");
  read_grouped_int(map, packing.find("awq") != std::string::npos ? "awq" : "gptq", out, rules);
  const std::string type = text_at(&map, "data_type");
  if (type.starts_with("nv_fp")) out.base.format = Format::nvfp4;
  if (type.starts_with("mx_fp")) out.base.format = out.base.bits == 8 ? Format::mxfp8 : Format::mxfp4;
  const Node* extra = map.find("extra_config");
  if (!extra || !extra->is_map()) return;
  for (const auto& [module, settings] : extra->members()) {
    const Node* bits = settings.is_map() ? settings.find("bits") : nullptr;
    if (!bits) continue;
    WeightFormat own = out.base;
    own.bits = static_cast<int>(bits->integer(1, 64));
    if (own.bits >= 16) {
      rules.exempt(module, Match::module);
    } else if (own.bits != out.base.bits && (own.bits == 4 || own.bits == 8)) {
      own.format = own.bits == 8 ? Format::int8 : Format::int4;
      rules.assign(module, Match::module, own);
    }
  }
}

void read_mxfp4(const Node& map, Quantization& out, RuleList& rules) {
  WeightFormat experts = group_format(Format::mxfp4, 4, 32);
  experts.layout = "gpt-oss";
  experts.activations = false;
  rules.exempt_all(map.find("modules_to_not_convert"), Match::module);
  rules.assign(".experts", Match::contains, experts);
  out.base = WeightFormat{};
}

void read_bitsandbytes(const Node& map, Quantization& out, RuleList& rules) {
  const bool eight = flag_at(map, "load_in_8bit", false) || flag_at(map, "_load_in_8bit", false);
  out.base = eight ? group_format(Format::int8, 8, 0) : group_format(Format::nf4, 4, 64);
  out.base.activations = eight;
  out.base.layout = flag_at(map, "bnb_4bit_use_double_quant", false) ? "bitsandbytes-nested" : "bitsandbytes";
  rules.exempt_all(map.find("llm_int8_skip_modules"), Match::module);
  exempt_ends(rules, true);
}

void read_exl(const Node& map, Quantization& out, RuleList& rules) {
  const Node& stated = map.at("bits");
  const bool mixed =
      stated.is_string() && stated.string() == "mixed";  // tiers: only the tensors know which expert has which
  const double bits = mixed ? 0 : stated.number();
  if (!mixed && !(bits >= 1 && bits <= 16))
    map.at("bits").fail(format("{} bits a weight is out of range: 1 to 16 is allowed", bits));
  WeightFormat weight = group_format(Format::exl3, static_cast<int>(std::lround(bits)), 0);
  weight.average_bits = bits;
  weight.activations = false;
  weight.layout = out.method;
  if (out.method != "exl3") weight.format = Format::other;
  for (const char* name : {"embed_tokens", "visual", "vision_tower"}) rules.exempt(name, Match::module);
  const Node* scope = map.find("quantized_scope");
  if (scope && scope->is_string() && scope->string().find(".experts.") != std::string::npos) {
    rules.assign(".experts.", Match::contains, weight);  // only the experts; the rest stays in the model's dtype
    out.base = WeightFormat{};
    return;
  }
  if (const Node* head = map.find("head_bits"); head && head->is_number()) {
    WeightFormat at_head = weight;
    at_head.bits = static_cast<int>(head->integer(1, 16));
    at_head.average_bits = at_head.bits;
    rules.assign("lm_head", Match::module, at_head);
  }
  out.base = weight;
}

void read_mlx(const Node& map, Quantization& out, RuleList& rules) {
  const auto weight = [](const Node& settings) {
    WeightFormat format = group_format(Format::mlx, static_cast<int>(settings.at("bits").integer(1, 16)),
                                       static_cast<int>(settings.at("group_size").integer(1, 1 << 16)));
    format.symmetric = false;
    format.activations = false;
    format.layout = "mlx";
    return format;
  };
  out.method = "mlx";
  out.base = weight(map);
  for (const auto& [module, settings] : map.members()) {
    if (settings.is_map() && settings.has("bits")) rules.assign(module, Match::module, weight(settings));
    if (settings.is_boolean() && !settings.boolean()) rules.exempt(module, Match::module);
  }
  for (const char* name : {"visual", "vision_tower"}) rules.exempt(name, Match::module);
}

std::string kv_format(const Node* map) {
  if (!map) return "";
  for (const char* key : {"kv_cache_quant_algo", "kv_cache_scheme"}) {
    const Node* node = map->find(key);
    if (!node) continue;
    if (node->is_string()) return lower(node->string()) == "nvfp4" ? "nvfp4" : "fp8";
    if (!node->is_map()) continue;
    const Node* bits = node->find("num_bits");
    return bits && bits->integer(1, 64) == 4 ? "nvfp4" : "fp8";
  }
  return "";
}

std::string method_of(const Node& map) {
  std::string method = lower(text_at(&map, "quant_method"));
  const std::string algorithm = text_at(&map, "quant_algo");
  if (method.empty() && (!algorithm.empty() || map.has("exclude_modules") || map.has("quantized_layers"))) return "modelopt";
  if (method.empty() && map.has("config_groups")) return "compressed-tensors";
  if (method == "compressed_tensors") return "compressed-tensors";
  if (method.empty() && map.has("bits") && map.has("group_size")) return map.has("zero_point") ? "awq" : "mlx";
  return method;
}

void read_method(const Node& map, const Node& root, Quantization& out, RuleList& rules, std::vector<std::string>& assumed) {
  const std::string& method = out.method;
  if (method.starts_with("modelopt")) {
    read_modelopt(map, out, rules, assumed);
    exempt_ends(rules, false);
  } else if (method == "compressed-tensors") {
    read_compressed_tensors(map, out, rules, assumed);
    exempt_ends(rules, false);
  } else if (method == "fp8" || method == "fbgemm_fp8") {
    read_fp8(map, root, out, rules);
    if (map.find("quantized_layers")) read_quantized_layers(map, rules);
  } else if (method == "awq" || method == "awq_marlin") {
    read_grouped_int(map, "awq", out, rules);
  } else if (method == "gptq" || method == "gptq_marlin" || method == "moe_wna16") {
    read_grouped_int(map, "gptq", out, rules);
    read_gptq_dynamic(map, out, rules);
  } else if (method == "auto-round" || method == "auto_round" || method == "intel/auto-round" || method == "inc") {
    read_auto_round(map, out, rules);
  } else if (method == "mxfp4" || method == "gpt_oss_mxfp4") {
    read_mxfp4(map, out, rules);
  } else if (method == "bitsandbytes") {
    read_bitsandbytes(map, out, rules);
  } else if (method == "exl3" || method == "exl2") {
    read_exl(map, out, rules);
  } else if (method == "quark") {
    read_quark(map, out, rules);
    exempt_ends(rules, false);
  } else if (method == "mlx") {
    read_mlx(map, out, rules);
  } else if (read_averaged(map, out, rules)) {
    exempt_ends(rules, true);
  } else {
    out.base.format = Format::other;
    out.base.layout = method;
    assumed.push_back(format("quantisation method '{}' is not known: weights are not priced", method));
  }
}

}  // namespace

Quantization read_quantization(const Node* config, const Node* sidecar, const Node& root,
                               std::vector<std::string>& assumed) {
  Quantization out;
  // The sidecar wraps its block in `quantization`.
  const Node* beside = sidecar ? sidecar->find("quantization") : nullptr;
  if (sidecar && !beside) beside = sidecar;
  const Node* map = config ? config : beside;
  if (!map) return out;
  if (!map->is_map()) map->fail("how the weights are quantised must be a map", "expected {\"quant_method\": ...}");
  if (map->members().empty()) return out;
  out.method = method_of(*map);
  if (out.method.empty()) {
    map->fail("cannot tell how the weights are quantised: neither 'quant_method' nor 'quant_algo' is present");
  }
  RuleList rules;
  read_method(*map, root, out, rules, assumed);
  out.rules = rules.take();
  out.kv_cache = kv_format(map);
  if (out.kv_cache.empty()) out.kv_cache = kv_format(beside);
  return out;
}

}  // namespace kvfit::models
