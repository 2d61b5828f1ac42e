// What a family calls its tensors, as tables: one row a tensor (or linear module), with its extents and the condition under
// which a checkpoint stores it. derive_inventory() walks these rows; nothing else knows names.
//
// Names are those of published safetensors, checked against real indexes in tests/models. A new family is a table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "models/model.h"
#include "models/naming_terms.h"
#include "profiles/dtype.h"

namespace kvfit::models {

enum class As : std::uint8_t {
  plain,    ///< a tensor in the model's dtype
  f32,      ///< a tensor kept in float32
  linear,   ///< a module whose weight the checkpoint may quantise
  narrow,   ///< a module that stays plain in all exports but MLX's: routers, embeddings, narrow projections
  expert,   ///< one linear module an expert; "{}" stands for its number
  stacked,  ///< the experts' modules in one parameter, first extent = experts
  pile,     ///< the same as the weight of a module: NAME.weight, NAME.weight_scale_inv
};

struct Row {
  As as;
  std::string_view name;  ///< below the layer's (or the root's) prefix; of a module, without ".weight"
  Dim extents[3];
  When when = When::always;
};

using Table = std::span<const Row>;

struct RecurrentTable {
  Recurrent::Kind kind;
  Table rows;
};

struct Naming {
  std::span<const std::string_view> model_types;  ///< of the text model
  Table root;                                     ///< below the name prefix
  Table norms;                                    ///< of every layer
  Table attention;                                ///< grouped-query, sliding and chunked
  Table mla;
  std::span<const RecurrentTable> recurrent;
  Table dense;
  Table moe;
  Table draft;                   ///< beside the draft's layers
  std::string_view prefix = {};  ///< instead of Model::name_prefix, for families with a single spelling
  std::string_view layers = "layers";
  std::string_view head = "lm_head";
  profiles::DType block_scale = profiles::DType::f32;       ///< of block scales in the vendor's own exports
  std::string_view block_scale_name = ".weight_scale_inv";  ///< and what they are called
};

/// nullptr when no table knows this model_type.
const Naming* find_naming(std::string_view model_type);

/// The tables, one file each.
std::span<const Naming> dense_namings();
std::span<const Naming> expert_namings();
std::span<const Naming> hybrid_namings();
std::span<const Naming> latent_namings();
std::span<const Naming> older_namings();

}  // namespace kvfit::models
