#include "runtime/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/checks.h"
#include "planner/kv_capacity.h"
#include "profiles/text.h"

namespace kvfit::runtime {
namespace {

using planner::Correction;
using planner::Evaluator;
using planner::Numbers;
using planner::Quantity;
using planner::StageNumbers;
using profiles::Bytes;
using profiles::format;
using profiles::to_gib;

constexpr double kHalfStep = 0.005;  // GiB are printed with two decimals

Agreement judge(double predicted, double printed, double rounding, double bar) {
  const double off = std::fabs(predicted - printed);
  if (off <= rounding * 1.0001) return Agreement::exact;
  return off <= bar + rounding ? Agreement::inside : Agreement::outside;
}

class Lines {
 public:
  void size(std::string id, std::string text, Bytes predicted, Bytes bar, const std::optional<Logged<double>>& printed) {
    if (!printed) return;
    ComparedLine line{.id = std::move(id),
                      .text = std::move(text),
                      .bytes = true,
                      .predicted = to_gib(predicted),
                      .printed = printed->value,
                      .bar = to_gib(bar),
                      .line = printed->line};
    line.agreement = judge(line.predicted, line.printed, kHalfStep, line.bar);
    lines_.push_back(std::move(line));
  }
  // A figure computed from the printed available KV, whose own rounding spreads it over [low, high].
  void given(std::string id, std::string text, double low, double high, double rounding, double printed, int at) {
    ComparedLine line{.id = std::move(id),
                      .text = std::move(text),
                      .bytes = false,
                      .printed = printed,
                      .given_available = true,
                      .line = at};
    line.predicted = std::clamp(printed, low, high);
    line.agreement = judge(line.predicted, printed, rounding, 0);
    if (line.agreement != Agreement::exact) line.predicted = (low + high) / 2;
    lines_.push_back(std::move(line));
  }
  std::vector<ComparedLine> take() { return std::move(lines_); }

 private:
  std::vector<ComparedLine> lines_;
};

std::optional<Logged<double>> first(const LoggedList<double>& list) {
  return list.empty() ? std::nullopt : std::optional<Logged<double>>(list.front());
}

std::optional<Logged<double>> last(const LoggedList<double>& list) {
  return list.empty() ? std::nullopt : std::optional<Logged<double>>(list.back());
}

void memory_lines(const BootLog& log, const Numbers& n, const planner::Amount& graph_estimate, Lines& out) {
  const StageNumbers& stage = n.stages.front();
  const planner::MemorySums& sums = stage.sums;
  out.size("total", "device total", n.total, n.total_error, first(log.total));
  out.size("free_at_start", "free at start", n.free_at_start - sums.before_engine.bytes,
           planner::quadrature({n.total_error, n.free_error, sums.before_engine.error}), first(log.free_at_start));
  out.size("requested", "asked for at this utilisation", n.requested, n.total_error, first(log.requested));
  out.size("weights", "weights", sums.weights.bytes, sums.weights.error, first(log.weights));
  out.size("activation", "activation peak", sums.activation.bytes, sums.activation.error, first(log.activation));
  out.size("non_torch", "outside torch", sums.non_torch.bytes, sums.non_torch.error, first(log.non_torch));
  out.size("consumed", "weights and outside torch", sums.weights.bytes + sums.non_torch.bytes,
           planner::quadrature({sums.weights.error, sums.non_torch.error}), first(log.consumed));
  out.size("graph_estimate", "CUDA graphs, estimated", graph_estimate.bytes, graph_estimate.error,
           first(log.graphs_estimated));
  out.size("available_kv", "available for the KV cache", stage.available, stage.available_error, smallest(log.available_kv));
}

// Blocks, tokens and concurrency follow from the printed available KV alone.
void capacity_lines(const BootLog& log, const Evaluator& evaluator, Lines& out) {
  const std::optional<Logged<double>> available = log.available_kv.empty() ? log.refused_with : smallest(log.available_kv);
  if (!available) return;
  const planner::Point point = evaluator.stated_point();
  const planner::KvCapacity low = evaluator.capacity(point, profiles::from_gib(available->value - kHalfStep));
  const planner::KvCapacity high = evaluator.capacity(point, profiles::from_gib(available->value + kHalfStep));
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  if (!log.num_gpu_blocks.empty()) {
    const Logged<std::int64_t>& printed = log.num_gpu_blocks.back();
    out.given("blocks", "KV cache blocks", number(low.num_gpu_blocks), number(high.num_gpu_blocks), 0, number(printed.value),
              printed.line);
  }
  if (!log.kv_tokens.empty()) {
    const Logged<std::int64_t>& printed = log.kv_tokens.back();
    out.given("tokens", "KV cache size in tokens", number(low.tokens), number(high.tokens), 1, number(printed.value),
              printed.line);
  }
  if (log.concurrency) {
    out.given("concurrency", "requests of full length at once", low.max_concurrency, high.max_concurrency, 0.005,
              log.concurrency->value, log.concurrency->line);
  }
  if (log.needed_kv) {
    const double needed = to_gib(low.needed);
    out.given("needed_kv", "KV cache one request needs, GiB", needed, needed, kHalfStep, log.needed_kv->value,
              log.needed_kv->line);
  }
  if (log.estimated_max_len) {
    out.given("estimated_max_len", "estimated maximum length", number(low.estimated_max_len), number(high.estimated_max_len),
              0, number(log.estimated_max_len->value), log.estimated_max_len->line);
  }
}

std::vector<Correction> learn(const BootLog& log, const Numbers& n) {
  const planner::MemorySums& sums = n.stages.front().sums;
  std::vector<Correction> out;
  const Bytes rounding = profiles::from_gib(2 * kHalfStep);
  const auto note = [&](Quantity quantity, Bytes predicted, const std::optional<Logged<double>>& printed) {
    if (!printed) return;
    out.push_back({.quantity = quantity,
                   .difference = profiles::from_gib(printed->value) - predicted,
                   .error = rounding,
                   .source = format("boot log line {}", printed->line)});
  };
  note(Quantity::weights, sums.weights.bytes, first(log.weights));
  note(Quantity::activation, sums.activation.bytes, first(log.activation));
  note(Quantity::non_torch, sums.non_torch.bytes, first(log.non_torch));
  if (sums.graph_estimate.bytes.count > 0)
    note(Quantity::graph_estimate, sums.graph_estimate.bytes, first(log.graphs_estimated));
  note(Quantity::graphs, sums.graphs.bytes, last(log.graphs));
  return out;
}

// What a log shows, in words that the profile's table `log_causes` may ask for with `when: {symptom: ...}`.
std::string symptom_of(const BootLog& log, const Comparison& comparison) {
  const std::optional<Logged<double>> estimate = first(log.graphs_estimated);
  const std::optional<Logged<double>> actual = last(log.graphs);
  if (estimate && actual && estimate->value > 1.0 && estimate->value > 2 * std::max(actual->value, 0.0))
    return "graph_estimate_inflated";
  if (!comparison.first_outside) return "";
  return comparison.lines[*comparison.first_outside].id;
}

}  // namespace

Comparison compare(const BootLog& log, const Evaluator& evaluator) {
  const Numbers numbers = evaluator.numbers(evaluator.stated_point());
  Lines lines;
  memory_lines(log, numbers, evaluator.graph_estimate(evaluator.stated_point()), lines);
  capacity_lines(log, evaluator, lines);
  lines.size("graphs", "CUDA graphs, captured", numbers.stages.front().sums.graphs.bytes,
             numbers.stages.front().sums.graphs.error, last(log.graphs));
  Comparison out;
  out.lines = lines.take();
  for (std::size_t i = 0; i < out.lines.size() && !out.first_outside; ++i) {
    if (out.lines[i].agreement == Agreement::outside) out.first_outside = i;
  }
  const std::string symptom = symptom_of(log, out);
  if (!symptom.empty()) {
    planner::Traits traits = planner::traits_of(evaluator.question());
    traits["symptom"] = symptom;
    if (const planner::Row* row = evaluator.question().rules->find("log_causes", traits)) {
      out.cause = row->word("cause");
      out.cause_source = row->source;
    }
  }
  out.corrections = learn(log, numbers);
  return out;
}

planner::Serving settings_from_log(const BootLog& log, planner::Serving base) {
  const auto take = [](auto& slot, const auto& logged) {
    if (logged) slot = logged->value;
  };
  take(base.max_model_len, log.max_model_len);
  take(base.max_num_seqs, log.max_num_seqs);
  take(base.max_num_batched_tokens, log.max_num_batched_tokens);
  take(base.gpu_memory_utilization, log.utilization);
  take(base.enable_prefix_caching, log.prefix_caching);
  take(base.enforce_eager, log.eager);
  if (log.kv_cache_dtype) base.kv_cache_dtype = log.kv_cache_dtype->value;
  if (log.kv_format && base.kv_cache_dtype == "auto") base.kv_cache_dtype = log.kv_format->value;
  if (log.tensor_parallel_size) base.tensor_parallel_size = log.tensor_parallel_size->value;
  if (log.pipeline_parallel_size) base.pipeline_parallel_size = log.pipeline_parallel_size->value;
  if (log.data_parallel_size) base.data_parallel_size = log.data_parallel_size->value;
  if (log.v2_runner) base.v2_model_runner = log.v2_runner->value;
  if (log.mamba_mode) base.mamba_cache_mode = log.mamba_mode->value;
  return base;
}

}  // namespace kvfit::runtime
