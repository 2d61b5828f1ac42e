// What a tensor's name alone says about experts. The tables of names are those of published checkpoints; see layout.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "carve/layout.h"

namespace kvfit::carve {

/// "B.experts.7.up_proj.weight": prefix B, expert 7, projection "up_proj", rest "weight".
struct ExpertName {
  std::string_view prefix, projection, rest;
  std::size_t digits_begin = 0, digits_end = 0;
  std::int32_t expert = 0;
  bool swapped = false;
};
/// nullopt for every name without an expert number in a known place.
std::optional<ExpertName> parse_expert_name(std::string_view name);

/// "B.experts.gate_up_proj_scales": prefix B, projection "gate_up_proj", rest "scales".
struct StackName {
  std::string_view prefix, projection, rest;
  bool flattened = false;
};
std::optional<StackName> parse_stack_name(std::string_view name);

/// `tail` is what follows the block's prefix and dot.
bool is_untouched(std::string_view tail);      ///< shared experts, latent projections
bool is_expert_vector(std::string_view tail);  ///< score corrections, router biases, per-expert scales
bool is_correction(std::string_view tail);     ///< of these, what training balances experts with
bool is_static_table(std::string_view tail);   ///< token -> expert tables
/// "gate" of "gate.weight", "router.proj" of "router.proj.weight"; "" when the tail is no router's.
std::string_view router_module(std::string_view tail);
/// Parts of a layer that are no experts; asked when the block is the whole layer (Gemma-4).
bool is_layer_part(std::string_view tail);

/// One rank's slice of an expert ("up_proj.rank0.trellis").
bool is_rank_sliced(std::string_view rest);

}  // namespace kvfit::carve
