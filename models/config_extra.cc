// Parameters that no field of Layer names: per-layer inputs and AltUp (Gemma-3n), hyper-connections and compressors
// (DeepSeek-V4, GLM-5.3-Flash), n-gram tables (Qwen4-exp), learned positions. Stored unquantised; sources beside each
// formula.
#include <cstddef>
#include <cstdint>

#include "models/config.h"
#include "models/config_parts.h"
#include "models/model.h"
#include "profiles/units.h"

namespace kvfit::models {
namespace {

using profiles::checked_add;
using profiles::checked_mul;

// Gemma-3n and Gemma-4 E: a second embedding of per_layer_vocab x layers x per_layer_input. The projections that bring it
// into each layer have names (naming_dense.cc), so they are not counted here.
void per_layer_inputs(const Config& config, Model& model) {
  const std::int64_t width = config.get({"hidden_size_per_layer_input"}, 0, kWidthOrNone);
  if (width == 0) return;
  model.per_layer_input = width;
  model.per_layer_vocab = config.need({"vocab_size_per_layer_input"}, kVocab);
}

// transformers gemma3n: AltUp (prediction and correction coefficients, router, scale) and LAuReL (rank r, a norm).
void alternating_updates(const Config& config, Model& model) {
  const std::int64_t inputs = config.get({"altup_num_inputs"}, 0, {0, 64});
  if (inputs == 0) return;
  const std::int64_t rank = config.get({"laurel_rank"}, 64, kWidth);
  const std::int64_t altup = inputs * inputs * inputs + inputs * inputs + inputs * model.hidden + 2 * model.hidden;
  for (Layer& layer : model.layers) layer.extra_parameters += altup + 2 * model.hidden * rank + model.hidden;
  model.extra_parameters += 2 * (inputs - 1) * model.hidden * model.hidden;
}

// DeepSeek-V4 inference/model.py: hc_fn [(2 + n) n, n hidden], base and three scales, for attention and feed-forward.
void hyper_connections(const Config& config, Model& model) {
  const std::int64_t streams = config.get({"hc_mult", "hc_count"}, 0, {0, 64});
  if (streams == 0) return;
  const std::int64_t mix = (2 + streams) * streams;
  for (Layer& layer : model.layers) layer.extra_parameters += 2 * (mix * streams * model.hidden + mix + 3);
  model.extra_parameters += streams * streams * model.hidden + streams + 1;
}

// DeepSeek-V4 inference/model.py, Compressor: key-value and gate projections, position table and norm; doubled where
// windows overlap (ratio 4), and once more at the indexer's width.
void compressors(Model& model) {
  for (Layer& layer : model.layers) {
    if (!layer.attention || layer.attention->compress_ratio == 0) continue;
    const Attention& attention = *layer.attention;
    const std::int64_t overlap = attention.compress_ratio == 4 ? 2 : 1;
    const auto one = [&](std::int64_t width) {
      return 2 * model.hidden * overlap * width + attention.compress_ratio * overlap * width + width;
    };
    layer.extra_parameters += one(attention.head_dim);
    if (attention.indexer) layer.extra_parameters += one(attention.indexer->head_dim);
  }
}

// Qwen3.8-Flash-Next: hashed 2- and 3-gram tables of `ngram_vocab_size_base` rows; all heads and orders together are
// ple_embed_dim wide. A 4-bit export's 32,000,153,600 bytes are 0.625 byte for each of 20e6 x 2560.
void ngram_tables(const Config& config, Model& model) {
  const std::int64_t rows = config.get({"ngram_vocab_size_base"}, 0, kPositionsOrNone);
  if (rows == 0) return;
  const std::int64_t width = config.need({"ple_embed_dim"}, kWidth);
  const std::int64_t tables = static_cast<std::int64_t>(config.integers({"ple_layer_ids"}, kSmall).size());
  model.extra_parameters = checked_add(model.extra_parameters, checked_mul(checked_mul(rows, width), tables));
  config.assume("n-gram tables are counted as if resident and in the model's dtype");
}

// A table of learned positions (OPT, GPT-2), which the engine keeps as an embedding.
void learned_positions(const Config& config, Model& model) {
  if (config.get({"learned_positions"}, 0, {0, 1}) == 0) return;
  const std::int64_t rows = model.max_position + config.get({"position_offset"}, 0, kSmall);
  model.extra_parameters = checked_add(model.extra_parameters, checked_mul(rows, model.hidden));
}

}  // namespace

void read_extras(const Config& config, Model& model) {
  per_layer_inputs(config, model);
  alternating_updates(config, model);
  hyper_connections(config, model);
  compressors(model);
  ngram_tables(config, model);
  learned_positions(config, model);
}

}  // namespace kvfit::models
