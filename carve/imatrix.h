// Activation statistics that llama.cpp's llama-imatrix writes as GGUF: for each layer, tokens routed to each expert
// (blk.N.ffn_down_exps.weight.counts, F32 [1, E]) and the squares of what reached it (….in_sum2, F32 [n, E]).
// Source: ggml-org/llama.cpp tools/imatrix and docs of gguf.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kvfit::carve {

/// By layer: counts x (energy a token)^1/2 of each expert, which is what the expert's inner activations weigh in total.
/// Error when it is no GGUF of version 2 or 3, is cut short, or counts another number of experts.
std::map<int, std::vector<double>> imatrix_scores(const std::string& path, std::int64_t experts);

}  // namespace kvfit::carve
