#include "planner/outside.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace kvfit::planner {
namespace {

struct Kind {
  std::string_view table, label, text;
};
constexpr std::array kKinds{
    Kind{"outside_gemm", "outside.gemm", "workspaces and autotuner buffers of the quantised GEMMs"},
    Kind{"outside_experts", "outside.experts", "scratch of the expert kernels"},
    Kind{"outside_compile", "outside.compile", "compilation, kernel modules and warm-up"},
    Kind{"outside_communication", "outside.communication", "peer-to-peer and collective buffers made on first use"},
    Kind{"outside_fragments", "outside.fragments", "blocks the allocator cannot reuse"},
};

// Bytes a token that the chunked delta-rule kernels hold for one layer: gates and decay in float32, the triangular solve
// over chunks of 64, w, u, new values and outputs, and one k x v state a chunk. Source: vllm/model_executor/layers/fla/ops.
double delta_rule_bytes(const models::Recurrent& r, double element) {
  constexpr double kChunk = 64;
  const double k = static_cast<double>(r.k_dim);
  const double v = static_cast<double>(r.v_dim);
  const double head = 4 + kChunk * (4 + element) + element * (k + 3 * v) + element * k * v / kChunk;
  return static_cast<double>(r.v_heads) * head;
}

double scratch_per_token(const models::Model& model, const Settings& settings) {
  const double element = static_cast<double>(profiles::bits(settings.dtype)) / 8;
  const double ranks = static_cast<double>(settings.tp);
  double out = 0;
  for (const models::Layer& layer : model.layers) {
    if (!layer.recurrent || layer.recurrent->inner > 0 || layer.recurrent->k_dim == 0) continue;
    const models::Recurrent& r = *layer.recurrent;
    const double inputs = static_cast<double>(2 * (2 * r.k_heads * r.k_dim + 2 * r.v_heads * r.v_dim));
    const double residual = 4 * static_cast<double>(model.hidden) * element;
    out = std::max(out, residual + (inputs * element + delta_rule_bytes(r, element)) / ranks);
  }
  return out;
}

}  // namespace

OutsideModel::OutsideModel(const Question& question, const Settings& settings, const Traits& traits, const Rank&) {
  const Rules& rules = *question.rules;
  double squares = 0;
  for (const Kind& kind : kKinds) {
    const Row* row = rules.find(kind.table, traits);
    if (row == nullptr) continue;
    const double split = row->value_or("divided_by_tp", 0) != 0 ? static_cast<double>(settings.tp) : 1.0;
    const double bytes = row->value("bytes") / split;
    const double error = row->error_of("bytes") / split;
    const Amount amount{Bytes(std::llround(bytes)), Bytes(std::llround(error))};
    constant_.push_back({.label = std::string(kind.label),
                         .text = std::string(kind.text),
                         .source = row->source,
                         .amount = amount,
                         .provenance = Provenance::measured});
    constant_sum_.bytes += amount.bytes;
    squares += error * error;
  }
  constant_sum_.error = Bytes(std::llround(std::sqrt(squares)));
  if (const Row* row = rules.find("outside_prefill", traits); row != nullptr) {
    scratch_per_token_ = row->value("scale") * scratch_per_token(question.model, settings);
    scratch_error_ = row->value("relative_error");
    scratch_source_ = row->source;
  }
}

Amount OutsideModel::prefill_scratch(std::int64_t tokens, Bytes profiled) const {
  const double peak = scratch_per_token_ * static_cast<double>(tokens);
  if (peak <= 0) return {};
  const double excess = std::max(0.0, peak - static_cast<double>(profiled.count));
  return {Bytes(std::llround(excess)), Bytes(std::llround(scratch_error_ * std::min(peak, excess + peak / 4)))};
}

}  // namespace kvfit::planner
