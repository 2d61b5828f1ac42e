#include "runtime/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/checks.h"
#include "planner/kv_capacity.h"
#include "profiles/text.h"
#include "runtime/log_scan.h"

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
  // A figure computed from the printed available KV, whose own rounding spreads it over [low, high]; beyond that it is
  // known to +-bar.
  void given(std::string id, std::string text, double low, double high, double rounding, double bar, double printed,
             int at) {
    ComparedLine line{.id = std::move(id),
                      .text = std::move(text),
                      .bytes = false,
                      .printed = printed,
                      .bar = bar,
                      .given_available = true,
                      .line = at};
    line.predicted = std::clamp(printed, low, high);
    line.agreement = judge(line.predicted, printed, rounding, bar);
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

// Pipeline stage whose worker printed a figure ("Worker_PP1_TP0"); the first where it does not say.
std::size_t stage_of(const Logged<double>& printed, const Numbers& n) {
  const std::int64_t stage = integer_after(printed.writer, "PP").value_or(0);
  return stage > 0 && stage < std::ssize(n.stages) ? static_cast<std::size_t>(stage) : 0;
}

const StageNumbers& stage_of(const std::optional<Logged<double>>& printed, const Numbers& n) {
  return n.stages[printed ? stage_of(*printed, n) : 0];
}

void budget_lines(const BootLog& log, const Numbers& n, Lines& out) {
  const planner::MemorySums& sums = n.stages.front().sums;
  out.size("total", "device total", n.total, n.total_error, first(log.total));
  out.size("free_at_start", "free at start", n.free_at_start - sums.before_engine.bytes,
           planner::quadrature({n.total_error, n.free_error, sums.before_engine.error}), first(log.free_at_start));
  out.size("requested", "asked for at this utilisation", n.requested, n.total_error, first(log.requested));
}

void memory_lines(const BootLog& log, const Numbers& n, const planner::Amount& graph_estimate, Lines& out) {
  const auto line = [&](const char* id, const char* text, const std::optional<Logged<double>>& printed, const auto& amount) {
    const planner::Amount predicted = amount(stage_of(printed, n).sums);
    out.size(id, text, predicted.bytes, predicted.error, printed);
  };
  using Sums = planner::MemorySums;
  line("weights", "weights", first(log.weights), [](const Sums& sums) { return sums.weights; });
  // From v0.26 the printed activation holds the graph estimate too.
  line("activation", log.merged_breakdown ? "activation peak with the graphs' estimate" : "activation peak",
       first(log.activation), [&log](const Sums& sums) {
         if (!log.merged_breakdown) return sums.activation;
         return planner::Amount{sums.activation.bytes + sums.graph_estimate.bytes,
                                planner::quadrature({sums.activation.error, sums.graph_estimate.error})};
       });
  line("non_torch", "outside torch", first(log.non_torch), [](const Sums& sums) { return sums.non_torch; });
  line("consumed", "weights and outside torch", first(log.consumed), [](const Sums& sums) {
    return planner::Amount{sums.weights.bytes + sums.non_torch.bytes,
                           planner::quadrature({sums.weights.error, sums.non_torch.error})};
  });
  out.size("graph_estimate", "CUDA graphs, estimated", graph_estimate.bytes, graph_estimate.error,
           first(log.graphs_estimated));
  const std::optional<Logged<double>> available = smallest(log.available_kv);
  const StageNumbers& stage = stage_of(available, n);
  out.size("available_kv", "available for the KV cache", stage.available, stage.available_error, available);
}

double number(std::int64_t n) { return static_cast<double>(n); }

// The pool, between the ends of the printed figure's rounding.
struct Pool {
  planner::KvCapacity low, high;
  double share = 0;  ///< what is uncertain of it beside the rounding, as a share of its blocks
};

// With pipeline stages the fewest blocks of all decide, and the log may print the memory of one: that of the others differs
// from it by what the plan says.
Pool pool_of(const Logged<double>& available, double rounding, const Evaluator& evaluator, const Numbers& n) {
  const planner::Point point = evaluator.stated_point();
  const std::size_t printed = stage_of(available, n);
  Pool out;
  for (std::size_t stage = 0; stage < n.stages.size(); ++stage) {
    const double shift = to_gib(n.stages[stage].available - n.stages[printed].available);
    const double gib = available.value + shift;
    const planner::KvCapacity low = evaluator.capacity(point, profiles::from_gib(gib - rounding), stage);
    if (stage > 0 && low.num_gpu_blocks >= out.low.num_gpu_blocks) continue;
    out.low = low;
    out.high = evaluator.capacity(point, profiles::from_gib(gib + rounding), stage);
    const double error = n.stages.size() > 1 ? to_gib(n.stages[stage].available_error) : 0;
    out.share = gib > 0 ? error / gib : 0;
  }
  return out;
}

// A count of the pool against its line, when the log has it.
template <typename Printed>
void pool_line(const char* id, const char* text, double low, double high, double rounding, double share,
               const std::optional<Logged<Printed>>& printed, Lines& out) {
  if (!printed) return;
  const double value = static_cast<double>(printed->value);
  out.given(id, text, low, high, rounding, share * high, value, printed->line);
}

// Each rank prints what its own memory holds; the engine goes on with the least of them.
template <typename T>
std::optional<Logged<T>> least_of(const LoggedList<T>& list) {
  const auto less = [](const Logged<T>& a, const Logged<T>& b) { return a.value < b.value; };
  return list.empty() ? std::nullopt : std::optional<Logged<T>>(*std::min_element(list.begin(), list.end(), less));
}

// Blocks, tokens, concurrency and refusals follow from the printed available KV alone.
void capacity_lines(const BootLog& log, const Evaluator& evaluator, const Numbers& n, Lines& out) {
  std::optional<Logged<double>> available = smallest(log.available_kv);
  if (!available) available = first(log.reserved_kv);
  if (!available) available = log.refused_with;
  if (!available) return;
  const Pool pool = pool_of(*available, kHalfStep, evaluator, n);
  const planner::KvCapacity& low = pool.low;
  const planner::KvCapacity& high = pool.high;
  const double needed = to_gib(low.needed);
  pool_line("blocks", "KV cache blocks", number(low.num_gpu_blocks), number(high.num_gpu_blocks), 0, pool.share,
            least_of(log.num_gpu_blocks), out);
  pool_line("tokens", "KV cache size in tokens", number(low.tokens), number(high.tokens), 1, pool.share,
            least_of(log.kv_tokens), out);
  // Of several ranks only the last one's concurrency is known.
  const bool alike = log.kv_tokens.empty() || log.kv_tokens.back().value == least_of(log.kv_tokens)->value;
  pool_line("concurrency", "requests of full length at once", low.max_concurrency, high.max_concurrency, kHalfStep,
            pool.share, alike ? log.concurrency : std::nullopt, out);
  pool_line("mamba_blocks", "blocks for recurrent states", number(low.num_gpu_blocks), number(high.num_gpu_blocks), 0,
            pool.share, log.mamba_blocks, out);
  pool_line("needed_kv", "KV cache one request needs, GiB", needed, needed, kHalfStep, 0, log.needed_kv, out);
  pool_line("estimated_max_len", "estimated maximum length", number(low.estimated_max_len), number(high.estimated_max_len),
            0, pool.share, log.estimated_max_len, out);
}

// Other engines share a model's bytes, not vLLM's budget: tokens are compared where all layers cache alike, to the block.
void other_engine_lines(const BootLog& log, const Evaluator& evaluator, const Numbers& n, Lines& out) {
  const planner::Amount& weights = n.stages.front().sums.weights;
  if (log.engine == "sglang") out.size("weights", "weights", weights.bytes, weights.error, first(log.weights));
  const std::optional<Logged<double>> available = smallest(log.available_kv);
  if (!available) return;
  const Pool pool = pool_of(*available, 2 * kHalfStep, evaluator, n);  // the sum of two printed sizes
  if (pool.high.groups != 1) return;
  pool_line("tokens", "KV cache size in tokens", number(pool.low.num_gpu_blocks * pool.low.block_size),
            number((pool.high.num_gpu_blocks + 1) * pool.high.block_size), 0, 0, least_of(log.kv_tokens), out);
}

bool other_weights(const BootLog& log, const Numbers& n) {
  if (log.weights.empty()) return false;
  const double predicted = to_gib(n.stages.front().sums.weights.bytes);
  return std::fabs(log.weights.front().value - predicted) > predicted / 4;
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
  if (!other_weights(log, n)) note(Quantity::weights, sums.weights.bytes, first(log.weights));
  // Sums of two quantities are taken apart where the log prints one of them too.
  std::optional<Logged<double>> activation = first(log.activation);
  if (log.merged_breakdown && activation) {
    if (log.graphs_estimated.empty()) {
      activation.reset();
    } else if (sums.graph_estimate.bytes.count > 0) {
      activation->value -= log.graphs_estimated.front().value;
    }
  }
  note(Quantity::activation, sums.activation.bytes, activation);
  std::optional<Logged<double>> non_torch = first(log.non_torch);
  if (!non_torch && !log.consumed.empty() && !log.weights.empty()) {
    non_torch = log.consumed.front();
    non_torch->value -= log.weights.front().value;
  }
  note(Quantity::non_torch, sums.non_torch.bytes, non_torch);
  if (sums.graph_estimate.bytes.count > 0)
    note(Quantity::graph_estimate, sums.graph_estimate.bytes, first(log.graphs_estimated));
  note(Quantity::graphs, sums.graphs.bytes, last(log.graphs));
  return out;
}

}  // namespace

Comparison compare(const BootLog& log, const Evaluator& evaluator) {
  const Numbers numbers = evaluator.numbers(evaluator.stated_point());
  Lines lines;
  Comparison out;
  if (log.engine != "vllm") {
    other_engine_lines(log, evaluator, numbers, lines);
  } else {
    budget_lines(log, numbers, lines);
    memory_lines(log, numbers, evaluator.graph_estimate(evaluator.stated_point()), lines);
    capacity_lines(log, evaluator, numbers, lines);
    const std::optional<Logged<double>> captured = last(log.graphs);
    const planner::Amount& graphs = stage_of(captured, numbers).sums.graphs;
    lines.size("graphs", "CUDA graphs, captured", graphs.bytes, graphs.error, captured);
    out.assumed = assumed_settings(evaluator.question(), numbers.settings);
    out.corrections = learn(log, numbers);
    out.other_weights = other_weights(log, numbers);
  }
  out.lines = lines.take();
  for (std::size_t i = 0; i < out.lines.size() && !out.first_outside; ++i) {
    if (out.lines[i].agreement == Agreement::outside) out.first_outside = i;
  }
  const bool budget_off = std::any_of(out.lines.begin(), out.lines.end(), [](const ComparedLine& line) {
    return line.agreement == Agreement::outside && (line.id == "requested" || line.id == "available_kv");
  });
  if (budget_off) out.utilization = solve_utilization(log, evaluator.question(), numbers);
  const std::string outside = out.first_outside ? out.lines[*out.first_outside].id : "";
  if (const std::optional<Cause> cause = likely_cause(log, outside, out.utilization, evaluator)) {
    out.cause = cause->text;
    out.cause_source = cause->source;
  }
  return out;
}

}  // namespace kvfit::runtime
