#include "tests/accuracy/statement.h"

#include <algorithm>

#include "tests/accuracy/spelling.h"

namespace kvfit::accuracy {

std::vector<std::string> Statement::missing() const {
  std::vector<std::string> out;
  if (!version) out.push_back("version");
  if (!kv_dtype) out.push_back("KV dtype");
  if (!prefix_mode) out.push_back("prefix mode");
  if (!batch) out.push_back("batch");
  if (!drafter) out.push_back("drafter");
  if (!smallest_rank) out.push_back("smallest rank");
  return out;
}

bool keeps_states(const models::Model& model) {
  return std::any_of(model.layers.begin(), model.layers.end(),
                     [](const models::Layer& layer) { return layer.recurrent.has_value(); });
}

bool has_windows(const models::Model& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [](const models::Layer& layer) {
    if (!layer.attention) return false;
    const models::Attention& attention = *layer.attention;
    return attention.kind == models::Attention::Kind::sliding || attention.kind == models::Attention::Kind::chunked ||
           attention.compress_ratio > 0;
  });
}

Statement statement_of(const Observation& row, const models::Model& model, bool unified) {
  const Arguments& args = row.arguments;
  Statement out;
  const VersionText version = read_version(row.engine_version.value_or(""));
  out.version = version.basis == VersionText::Basis::exact && !version.patched;
  out.kv_dtype = args.kv_cache_dtype.has_value();
  out.prefix_mode = !keeps_states(model) || args.enable_prefix_caching.has_value() || args.mamba_cache_mode.has_value();
  out.batch = !has_windows(model) || args.max_num_batched_tokens.has_value();
  out.drafter = !args.speculative || (args.speculative->drafter_known && args.speculative->tokens.has_value());
  const std::int64_t ranks = row.tp.value_or(1) * row.pp.value_or(1);
  out.smallest_rank = row.pp.value_or(1) == 1 && !(unified && ranks > 1);
  return out;
}

Statement statement_of_layout(const Observation& row) {
  Statement out;
  const CacheLayout& layout = *row.layout;
  const bool windows = std::any_of(layout.layers.begin(), layout.layers.end(),
                                   [](const CacheLayer& layer) { return layer.window > 0 || layer.chunk > 0; });
  out.version = true;  // such rows name the formulas' version
  out.kv_dtype = out.prefix_mode = out.drafter = !layout.inferred;
  out.batch = !windows || layout.in_flight_tokens.has_value();
  out.smallest_rank = row.pp.value_or(1) == 1;
  return out;
}

}  // namespace kvfit::accuracy
