// Scores experts without running the model: the higher, the more worth keeping. Zero-shot scores read routers and scales
// only (kirigami: 2 of 23 GB of a Qwen3.6-35B-A3B-NVFP4); aimer, frob and stable-rank read all expert weights.
//
//   kirigami      |router row|_2 x mean of the expert's stored weight scales, all projections pooled
//   kirigami-eff  the same with each scale times its matrix's global scale: what the scale is worth in weight units
//   router-norm   |router row|_2
//   scale         mean of the effective scales
//   aimer         -(mean |w| / rms w): flat experts go (arXiv 2603.18492)
//   frob          |W|_F, all projections pooled
//   stable-rank   |W|_F^2 / |W|_2^2, mean over the projections; reads all weights twelve times
//   sim           experts whose router rows resemble another's go first (router_scores.h)
//   bias          score corrections with their sign turned: experts that training had to push are worth less
//   hash-freq     how many tokens a table sends to the expert
//   file          somebody else's numbers (external_scores.h)
//   random        splitmix64 of seed, block and expert: the control any score must beat
//
// Where a table picks the experts (DeepSeek-V4's first layers), the router says nothing: there kirigami, kirigami-eff and
// router-norm are hash-freq. A block without scales (a BF16 draft head) is scored by what an NVFP4 scale would be: mean over
// 16 inputs of max|w| / 6.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "carve/layout.h"
#include "carve/source.h"

namespace kvfit::carve {

enum class ScoreKind : std::uint8_t {
  kirigami,
  kirigami_eff,
  router_norm,
  scale,
  aimer,
  frob,
  stable_rank,
  sim,
  bias,
  hash_freq,
  file,
  random
};
std::string_view score_name(ScoreKind kind);
/// Error with the nearest spelling for an unknown name.
ScoreKind parse_score(std::string_view name);

struct BlockScore {
  std::vector<double> values;          ///< by expert; higher = keep
  std::vector<double> router, weight;  ///< the factors of a product, for the report; may be empty
  std::string basis;                   ///< what the weight factor was computed from: "weight_scale", "bf16 blocks of 16"
};

struct ScoreReport {
  ScoreKind kind = ScoreKind::kirigami;
  std::vector<BlockScore> blocks;     ///< parallel to Layout::blocks
  std::int64_t bytes_read = 0;        ///< tensor data that was looked at
  std::int64_t plain_bytes_read = 0;  ///< of these, unquantised weights of blocks that have no scales
  std::vector<std::string> findings;  ///< "12 scales of B are zero or negative"
};

struct ScoreOptions {
  ScoreKind kind = ScoreKind::kirigami;
  std::uint64_t seed = 0;                           ///< random
  std::function<void(std::int64_t)> progress = {};  ///< called with bytes read so far; may throw to stop
};

/// Error when scores are not finite, all equal within a block, or nothing can be scored by (says what to use instead).
ScoreReport score_experts(const Source& source, const Layout& layout, const ScoreOptions& options);

/// The control: uniform in [0, 1), by block and expert.
std::vector<std::vector<double>> random_scores(const Layout& layout, std::uint64_t seed);

/// Tensor bytes score_experts() would read.
std::int64_t score_cost(const Source& source, const Layout& layout, ScoreKind kind);

}  // namespace kvfit::carve
