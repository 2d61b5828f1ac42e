// Which tensor is what to a carve: one expert's, a stack of all experts', a router, a vector with an entry an expert, or
// nothing a carve touches. Names decide, extents only confirm; what looks like experts and is not understood stops the run.
//
//   per expert   B.experts.7.up_proj.weight            renamed or dropped
//   swapped      B.experts.up_proj.7.weight            renamed or dropped (ModelOpt's Qwen3-VL-MoE)
//   stacked      B.experts.gate_up_proj  [E, ...]      slices of axis 0 (also Granite's input_linear, MLX's switch_mlp)
//   flattened    B.experts.mlp.w1        [E x I, ...]  rows of axis 0 (DBRX)
//   router       B.gate.weight           [E, hidden]   rows, with every sibling that has E rows
//   vector       B.gate.e_score_correction_bias        entries along the axis that is E
//   table        B.gate.tid2eid          [tokens, k]   entries are experts: rewritten on request, else refused
//
// B is a block: the MoE part of one layer, in the trunk or in a draft head.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "carve/source.h"

namespace kvfit::carve {

enum class Part : std::uint8_t {
  whole,    ///< carried as it is
  expert,   ///< one expert's: renamed, or dropped with its expert
  rows,     ///< axis 0 is E, or E equal slabs
  columns,  ///< axis 1 is E
  table,    ///< its entries are expert numbers
  dropped,  ///< of a draft head that is left out
};

struct TensorPlace {
  std::int32_t block = -1;                         ///< into Layout::blocks; -1: no block's
  std::int32_t expert = -1;                        ///< Part::expert
  std::uint32_t digits_begin = 0, digits_end = 0;  ///< Part::expert: the number inside the name
  Part part = Part::whole;
};

/// A tensor of a Source.
struct TensorRef {
  std::int32_t shard = -1;
  std::uint32_t tensor = 0;
};

enum class Form : std::uint8_t { per_expert, swapped, stacked, flattened };
std::string_view form_name(Form form);

struct Block {
  std::string prefix;
  std::int64_t experts = 0;
  int layer = -1;      ///< last number of the prefix; -1 = none
  bool draft = false;  ///< of an MTP / nextn head
  Form form = Form::per_expert;
  TensorRef router;
  TensorRef correction;  ///< a vector that training moved where experts were used too little; shard -1 = none
  TensorRef table;       ///< token to expert; shard -1 = none
};

enum class DraftMode { carve, drop, keep };

struct LayoutOptions {
  DraftMode draft = DraftMode::carve;
  bool remap_tables = false;  ///< tables of token to expert are rewritten; else they are refused
  bool rank_sliced = false;   ///< slices of one rank each are carved; else they are refused
  std::string allow_unknown;  ///< regular expression: names carried unchanged although they look like experts
};

struct Layout {
  std::vector<Block> blocks;                     ///< those that are carved, by layer
  std::vector<std::vector<TensorPlace>> places;  ///< parallel to Source::shards and their header.tensors
  std::int64_t experts = 0;                      ///< the same in every block
  std::vector<std::string> findings;
};

/// What the recogniser must know from config.json.
struct ConfigHints {
  std::int64_t experts = 0;       ///< 0 = not stated
  std::int64_t trunk_layers = 0;  ///< layers from here on are a draft head's; 0 = not stated
};

/// Error (Fault::input) listing what is not understood, or the invariant that a block breaks.
Layout recognise(const Source& source, const ConfigHints& hints, const LayoutOptions& options);

/// The block that a key names: its prefix in any spelling, "model.layers.3.mlp", or the number of a trunk layer.
std::optional<std::size_t> find_block(const Layout& layout, std::string_view key);

inline const models::HeaderTensor& tensor_of(const Source& source, TensorRef ref) {
  return source.shards[static_cast<std::size_t>(ref.shard)].header.tensors[ref.tensor];
}

}  // namespace kvfit::carve
