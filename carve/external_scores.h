// Scores somebody else computed, from a forward pass or from another tool. What the file is shows in its content:
//
//   kvfit           {"format": "kvfit.expert_scores/1", "higher_is_better": true, "layers": {"B or number": [E numbers]}}
//   llm-compressor  {"model.layers.3.mlp": [kept ids]}: a REAP report
//   AIMER           {"3": [dropped ids]} (pruned_experts.json), or layer,expert_id,...,calib_free_score,... a row an expert
//                   (calib_free_scores.csv), where a high score is removed first
//   imatrix         a GGUF of llama.cpp: counts and energies of blk.3.ffn_down_exps; score = counts x energy^1/2
//
// A number names a trunk layer; a draft head needs its block's name.
#pragma once

#include <string>

#include "carve/layout.h"
#include "carve/score.h"
#include "carve/source.h"

namespace kvfit::carve {

/// Error when the format is not known (says which are), a list has another length than the experts, or a block is not named
/// and `fill` is null; else those blocks are scored by `fill`.
ScoreReport external_scores(const Source& source, const Layout& layout, const std::string& path, const ScoreOptions* fill);

}  // namespace kvfit::carve
