#include "planner/graphs.h"

#include <algorithm>
#include <cmath>

namespace kvfit::planner {
namespace {

Bytes whole(double bytes) { return Bytes(std::llround(bytes)); }

double graph_count(const Settings& settings) {
  return static_cast<double>(settings.capture_sizes.size()) + static_cast<double>(settings.full_capture_sizes);
}

double layers_recorded(const Question& question, const Settings& settings, const Traits& traits, const Rank& rank) {
  double layers = static_cast<double>(rank.end_layer - rank.first_layer);
  if (settings.speculative_tokens == 0 || !rank.last_stage || !question.serving.speculative) return layers;
  if (question.serving.speculative->draft) {
    layers += static_cast<double>(question.serving.speculative->draft->layers.size());
  } else if (question.model.draft && drafts_in_model(question, settings, traits)) {
    layers += static_cast<double>(question.model.draft->layers.size());
  }
  return layers;
}

// K and V of one token in one layer on this rank, in elements: the widest layer, for one buffer serves all.
double widest_kv(const models::Model& model, std::int64_t tp) {
  std::int64_t out = 0;
  for (const models::Layer& layer : model.layers) {
    if (!layer.attention) continue;
    const models::Attention& a = *layer.attention;
    out = std::max(out, std::max<std::int64_t>(a.kv_heads / tp, 1) * (a.head_dim + a.head_dim_v));
  }
  return static_cast<double>(out);
}

}  // namespace

GraphModel::GraphModel(const Question& question, const Settings& settings, const Traits& traits, const Rank& rank)
    : layers_(layers_recorded(question, settings, traits, rank)) {
  const Row& row = question.rules->pick("graphs", traits);
  per_graph_ = row.value("per_graph");
  per_graph_layer_ = row.value("per_graph_layer");
  constant_ = row.value_or("constant", 0);
  relative_error_ = row.value("relative_error");
  fixed_error_ = row.value("bytes_error");
  source_ = row.source;
  if (const Row* workspace = question.rules->find("attention_workspace", traits); workspace != nullptr) {
    attention_workspace_ = {Bytes(workspace->count("bytes")), whole(workspace->error_of("bytes"))};
    unpacked_per_token_ = workspace->value_or("unpacked_bytes", 0) * widest_kv(question.model, settings.tp);
  }
  const Row* estimate = question.rules->find("graph_estimate", traits);
  if (estimate == nullptr || settings.runner == Runner::v2) return;
  estimated_ = true;
  estimate_scale_ = estimate->value("scale");
  estimate_constant_ = estimate->value_or("constant", 0);
  estimate_per_token_ = estimate->value_or("per_batched_token", 0);
  estimate_relative_error_ = estimate->value("relative_error");
  estimate_fixed_error_ = estimate->value("bytes_error");
  estimate_source_ = estimate->source;
}

Amount GraphModel::actual(const Settings& settings) const {
  const double graphs = graph_count(settings);
  if (settings.eager || graphs == 0) return {};
  const double bytes = constant_ + graphs * (per_graph_ + per_graph_layer_ * layers_);
  return {whole(bytes), whole(fixed_error_ + relative_error_ * bytes)};
}

Amount GraphModel::estimate(const Settings& settings) const {
  if (!estimated_ || settings.eager || graph_count(settings) == 0) return {};
  const double captured = static_cast<double>(actual(settings).bytes.count) * estimate_scale_ + estimate_constant_;
  const double bytes = captured + estimate_per_token_ * static_cast<double>(settings.max_num_batched_tokens) +
                       static_cast<double>(attention_workspace(settings).bytes.count);
  return {whole(bytes), whole(estimate_fixed_error_ + estimate_relative_error_ * bytes)};
}

Amount GraphModel::attention_workspace(const Settings& settings) const {
  Amount out = attention_workspace_;
  out.bytes += whole(unpacked_per_token_ * static_cast<double>(settings.max_model_len));
  return out;
}

std::int64_t GraphModel::profiling_blocks(const Settings& settings) const {
  if (!estimated_ || settings.eager || settings.capture_sizes.empty()) return 0;
  return std::min(settings.max_num_seqs, settings.capture_sizes.back());
}

}  // namespace kvfit::planner
