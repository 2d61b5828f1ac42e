// What a model is: layers, each with how it mixes tokens and how it feeds forward, plus draft head, vision tower and
// quantisation. Filled from a config.json (config_reader.h) or a YAML spec; holds no bytes of any checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/layer.h"
#include "models/quantization.h"
#include "profiles/dtype.h"

namespace kvfit::models {

struct Rope {
  std::int64_t rows = 0;  ///< rows the engine's cos/sin cache holds (after scaling, M-RoPE factor included)
  std::int64_t dim = 0;   ///< rotary dimension
  profiles::DType dtype = profiles::DType::bf16;
};

/// Draft layers stored beside the model and used with --speculative-config.
struct Draft {
  std::string method;  ///< "mtp", "eagle3", ...
  std::string prefix;  ///< tensor name prefix, e.g. "mtp." or "model.layers.61."
  std::vector<Layer> layers;
  bool own_embedding = false, own_head = false;  ///< stored again instead of shared with the target
};

struct Vision {
  std::int64_t layers = 0, hidden = 0, intermediate = 0, heads = 0, out_hidden = 0;
  std::int64_t patch = 0, temporal_patch = 1, merge = 1, channels = 3;
  std::int64_t position_rows = 0;    ///< learned position embeddings
  std::int64_t deepstack = 0;        ///< extra merger heads
  std::int64_t max_item_tokens = 0;  ///< language tokens of the largest image
  std::int64_t parameters = 0;       ///< when only the count is known
  std::string kind;                  ///< "qwen3_vl", "siglip", "pixtral", ...
};

struct Model {
  std::string id;                                 ///< catalogue id, or the directory's name
  std::string repository;                         ///< Hugging Face id where known
  std::string family;                             ///< model_type of the text model, e.g. "qwen3_5_moe_text"
  std::string architecture;                       ///< architectures[0]
  profiles::DType dtype = profiles::DType::bf16;  ///< of weights that are not quantised
  bool quantised_while_loading = false;  ///< `quantization` is what the engine makes of plain weights, not what is stored
  std::int64_t hidden = 0, vocab = 0, max_position = 0;
  bool tied_embeddings = false;
  bool norm_bias = false;  ///< LayerNorm: a bias beside each norm weight
  bool head_bias = false;
  std::int64_t per_layer_input = 0, per_layer_vocab = 0;  ///< Gemma-3n/4n: a second embedding, vocab x (layers x input)
  std::int64_t extra_parameters = 0;                      ///< of the trunk, named by no other field, unquantised
  std::vector<Layer> layers;
  std::vector<Rope> ropes;  ///< distinct caches the engine builds
  std::optional<Draft> draft;
  std::optional<Vision> vision;
  std::optional<std::int64_t> audio_parameters;  ///< audio tower and projector
  Quantization quantization;
  std::string name_prefix = "model.";  ///< of the language model's tensors ("model.language_model.")
  std::vector<std::string> missing;    ///< what the config did not say and was assumed; widens error bars
};

/// Routed experts of the model (the same in every MoE layer) or 0 when dense.
std::int64_t expert_count(const Model& model);
/// The same model with `experts` routed experts in trunk and draft (a carve); throws Error when a hard rule is broken.
Model with_experts(const Model& model, std::int64_t experts);

}  // namespace kvfit::models
