// EXL3 (Trellis) weights: bytes of a matrix, and the rank-sliced layout (TR3) in which each tensor-parallel rank's slice was
// cut before it was encoded, so that a checkpoint belongs to one tensor-parallel size.
//
// Source: turboderp-org/exllamav3@4f8ad012 exllamav3/modules/quant/exl3.py; local-inference-lab/vllm exl3.py (rank slices).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/tensor_inventory.h"

namespace kvfit::models {

/// One matrix: trellis in x out x bits / 8, sign vectors 2 bytes an input and an output, a 4-byte marker. Sizes that are no
/// multiples of 128 are padded up to it.
Bytes trellis_bytes(std::int64_t inputs, std::int64_t outputs, int bits);

/// Gate, up and down of one expert over all ranks: gate and up cut along their outputs, down along its inputs. With
/// `shared_h` the sign vectors of the hidden side are stored once a layer instead (gate.suh, up.suh, down.svh of every
/// rank).
Bytes sliced_expert_bytes(std::int64_t hidden, std::int64_t intermediate, std::int64_t ranks, int bits,
                          bool shared_h = false);

/// The encoder needs whole tiles: both sides multiples of 128. What is narrower (GDN in_proj_ba, shared_expert_gate) stays
/// 16-bit.
bool can_encode(std::int64_t inputs, std::int64_t outputs);
/// MXFP8, the fallback of an online overlay: at least 128 x 128 and inputs in whole groups of 32.
bool can_mxfp8(std::int64_t inputs, std::int64_t outputs);

/// What a checkpoint's tensors say of its layout.
struct TrellisLayout {
  std::vector<int> expert_bits;  ///< tiers of the routed experts, ascending; empty = no Trellis experts
  std::int64_t ranks = 0;        ///< slices ("...gate_proj.rank3.trellis"); 0 = not sliced
};
TrellisLayout trellis_layout(const TensorInventory& inventory);

/// The number behind ".rank" in a sliced tensor's name; -1 when it is not sliced.
int slice_rank(std::string_view name);

}  // namespace kvfit::models
