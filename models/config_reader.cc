#include "models/config_reader.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/config.h"
#include "models/config_parts.h"
#include "models/family.h"
#include "models/model.h"
#include "models/module_name.h"
#include "models/quantization_reader.h"
#include "profiles/document.h"
#include "profiles/dtype.h"
#include "profiles/error.h"
#include "profiles/suggest.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::DType;
using profiles::format;
using profiles::Node;

const Family& family_of(const Node& root, const Node& text) {
  const Node* own = text.find("model_type");
  const Node* outer = root.find("model_type");
  if (own) {
    if (const Family* family = find_family(own->string())) return *family;
  }
  if (outer && outer != own) {
    if (const Family* family = find_family(outer->string())) return *family;
  }
  const Node* named = own ? own : outer;
  if (!named) {
    root.fail("missing key 'model_type'",
              "without it kvfit cannot know how the model is built; write a model spec in YAML instead");
  }
  const std::string near = profiles::did_you_mean(named->string(), known_families());
  named->fail(format("unknown model_type '{}'", named->string()),
              format("{}kvfit does not know its layers, norms and defaults; describe the model in a YAML spec "
                     "(docs/model-spec.md) and pass it with --model FILE",
                     near.empty() ? "" : near + " Otherwise "));
}

DType read_dtype(const Config& config) {
  const Node* node = config.find({"dtype", "torch_dtype"});
  for (const char* key : {"dtype", "torch_dtype"}) {
    if (!node) node = config.root().find(key);
  }
  if (!node) {
    if (!config.family().fallback("bf16")) config.assume("dtype is not stated: bfloat16");
    return DType::bf16;
  }
  if (node->is_string() && node->string() == "auto") return DType::bf16;
  const std::optional<DType> dtype = profiles::dtype_from_torch(node->string());
  if (!dtype) node->fail(format("unknown dtype '{}'", node->string()), "for example: bfloat16, float16, float32");
  return *dtype;
}

bool read_tied(const Config& config) {
  if (config.text().has("tie_word_embeddings")) return config.text().at("tie_word_embeddings").boolean();
  if (const Node* outer = config.root().find("tie_word_embeddings")) return outer->boolean();
  return config.flag({"tie_word_embeddings"}, false);
}

std::int64_t read_vocab(const Config& config) {
  if (!config.has({"vocab_size"}) && !config.family().fallback("vocab_size")) {
    if (const Node* outer = config.root().find("vocab_size")) return outer->integer(kVocab.lo, kVocab.hi);
  }
  return config.need({"vocab_size", "padded_vocab_size"}, kVocab);
}

void read_layers(const Config& config, Model& model) {
  const std::vector<Slot> slots = read_slots(config);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots[i];
    const int index = static_cast<int>(i);
    Layer layer;
    layer.norms = config.family().norms;
    const bool attends = slot.mix != Mix::recurrent && slot.mix != Mix::none;
    if (attends) layer.attention = read_attention(config, slot.mix, index);
    if (slot.mix == Mix::recurrent || slot.mix == Mix::parallel) layer.recurrent = read_recurrent(config);
    read_feed(config, slot.feed, index, layer);
    if (config.has({"block_configs"})) layer.norms = (layer.attention ? 1 : 0) + (layer.dense ? 1 : 0);
    model.layers.push_back(std::move(layer));
  }
  share_caches(config, slots, model.layers);
}

// Quantising exports split the tensor that holds all experts of a projection, except the method whose layout is that tensor.
void settle_expert_storage(Model& model) {
  const auto settle = [&model](std::vector<Layer>& layers, const std::string& first) {
    int index = 0;
    for (Layer& layer : layers) {
      const std::string module = format("{}{}.mlp.experts.0.up_proj", first, index++);
      if (!layer.moe || !layer.moe->fused_storage) continue;
      const WeightFormat stored = format_of(model.quantization, module, model.dtype);
      layer.moe->fused_storage = is_plain(stored) || stored.format == Format::mxfp4 || stored.format == Format::mlx;
    }
  };
  settle(model.layers, model.name_prefix + "layers.");
  if (model.draft) settle(model.draft->layers, model.draft->prefix + "layers.");
}

// Quantisers that work on the transformers model never see the draft layers, which it does not load; exporters copy them as
// they are. Only a list that names them says otherwise.
void exempt_draft(Model& model) {
  static constexpr std::string_view kBlind[] = {"compressed-tensors", "awq", "gptq", "auto-round", "bitsandbytes", "quark"};
  const std::string& method = model.quantization.method;
  if (!model.draft || std::find(std::begin(kBlind), std::end(kBlind), method) == std::end(kBlind)) return;
  FormatRule rule;
  rule.exempt = true;
  const ModuleName name = split_module(model.draft->prefix + "x");
  rule.match = FormatRule::Match::contains;
  rule.pattern = name.text.substr(0, name.text.size() - 1);
  if (name.layer >= 0) {
    for (int i = 0; i < static_cast<int>(model.draft->layers.size()); ++i) rule.layers.push_back(name.layer + i);
  }
  const std::string number = format("{}", name.layer);
  for (const FormatRule& other : model.quantization.rules) {
    if (other.pattern.find(name.layer >= 0 ? number : rule.pattern.substr(0, 3)) != std::string::npos) return;
  }
  model.quantization.rules.insert(model.quantization.rules.begin(), std::move(rule));
}

const Node* find_quantization(const Node& root, const Node& text) {
  for (const Node* map : {&root, &text}) {
    for (const char* key : {"quantization_config", "compression_config", "quantization"}) {
      const Node* found = map->find(key);
      if (!found) continue;
      if (found->is_map()) return found;
      if (found->is_string() && std::string_view(key) == "quantization_config")
        return found;  // the reader says what it wants
    }
  }
  return nullptr;
}

// Wrappers whose published checkpoints put the language model under a name of their own.
constexpr std::string_view kLanguageModelWrappers[] = {"gemma3",          "mistral3",      "ministral3", "kimi_k25",
                                                       "kimi_k3",         "kimi_vl",       "llava",      "llava_next",
                                                       "llava_onevision", "internvl_chat", "paligemma",  "aya_vision"};

std::string name_prefix(const Node& root, const Node& text, const Family& family) {
  const Node* wrapper = root.find("model_type");
  const bool listed = wrapper && wrapper->is_string() &&
                      std::find(std::begin(kLanguageModelWrappers), std::end(kLanguageModelWrappers), wrapper->string()) !=
                          std::end(kLanguageModelWrappers);
  return &text != &root && listed ? "language_model.model." : std::string(family.prefix);
}

// Omni models wrap the model that reads and writes text once more.
const Node& model_part(const Node& config) {
  const Node* thinker = config.find("thinker_config");
  return thinker && thinker->is_map() ? *thinker : config;
}

}  // namespace

const Node& text_part(const Node& config) {
  for (const char* key : {"text_config", "llm_config", "language_config"}) {
    if (const Node* part = config.find(key); part && part->is_map()) return *part;
  }
  const Node& inner = model_part(config);
  return &inner == &config ? config : text_part(inner);
}

Model read_config(const Node& root, const Node* sidecar, std::string id) {
  const Node& text = text_part(root);
  const Family& family = family_of(root, text);
  const Config config(model_part(root), text, family);
  Model model;
  model.id = std::move(id);
  model.family = family.type;
  if (const Node* names = root.find("architectures"); names && !names->list().empty()) {
    model.architecture = names->list().front().string();
  }
  model.dtype = read_dtype(config);
  model.hidden = config.need({"hidden_size", "d_model", "n_embd"}, kWidth);
  model.vocab = read_vocab(config);
  model.max_position = read_max_position(config);
  model.tied_embeddings = read_tied(config);
  model.norm_bias = family.has(kNormBias);
  model.head_bias = config.flag({"lm_head_bias"}, false);
  model.name_prefix = name_prefix(root, text, family);
  read_layers(config, model);
  model.ropes = read_ropes(config, model.layers, model.dtype);
  model.draft = read_draft(config, model);
  model.vision = read_vision(config);
  model.audio_parameters = read_audio(config);
  read_extras(config, model);
  model.missing = config.assumed();
  model.quantization = read_quantization(find_quantization(root, text), sidecar, text, model.missing);
  exempt_draft(model);
  settle_expert_storage(model);
  return model;
}

}  // namespace kvfit::models
