#include "runtime/likely_cause.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "planner/checks.h"
#include "profiles/text.h"

namespace kvfit::runtime {
namespace {

using planner::Bytes;
using profiles::format;
using profiles::to_gib;

constexpr double kHalfStep = 0.005;  // GiB are printed with two decimals

struct Term {
  double gib = 0, error = 0;
};

Term term(const LoggedList<double>& printed, Bytes predicted, Bytes error) {
  if (!printed.empty()) return {printed.front().value, kHalfStep};
  return {to_gib(predicted), to_gib(error)};
}

// Everything the engine subtracts from the requested memory.
std::vector<Term> subtracted(const BootLog& log, const planner::MemorySums& sums) {
  std::vector<Term> out;
  if (!log.consumed.empty()) {
    out.push_back({log.consumed.front().value, kHalfStep});
  } else {
    out.push_back(term(log.weights, sums.weights.bytes, sums.weights.error));
    out.push_back(term(log.non_torch, sums.non_torch.bytes, sums.non_torch.error));
  }
  out.push_back(term(log.activation, sums.activation.bytes, sums.activation.error));
  const bool separate = log.activation.empty() || !log.merged_breakdown;
  if (separate && sums.graph_estimate.bytes.count > 0)
    out.push_back(term(log.graphs_estimated, sums.graph_estimate.bytes, sums.graph_estimate.error));
  return out;
}

// The roundest share within the bar: people write 0.85, not 0.8493.
double round_share(double share, double error) {
  for (const double steps : {20.0, 100.0, 200.0, 1000.0}) {
    const double round = std::round(share * steps) / steps;
    if (std::fabs(round - share) <= std::max(error, 0.0002) && round > 0 && round <= 1) return round;
  }
  return std::round(share * 10000) / 10000;
}

// What a log shows, in words that the profile's table `log_causes` may ask for with `when: {symptom: ...}`.
std::string symptom_of(const BootLog& log, const std::string& first_outside) {
  if (!log.graphs_estimated.empty() && !log.graphs.empty()) {
    const double estimate = log.graphs_estimated.front().value;
    if (estimate > 1.0 && estimate > 2 * std::max(log.graphs.back().value, 0.0)) return "graph_estimate_inflated";
  }
  return first_outside;
}

}  // namespace

std::vector<AssumedSetting> assumed_settings(const planner::Question& question, const planner::Settings& settings) {
  const planner::Serving& stated = question.serving;
  std::vector<AssumedSetting> out;
  if (!stated.gpu_memory_utilization && !stated.kv_cache_memory_bytes)
    out.push_back({"gpu_memory_utilization", format("{}", settings.gpu_memory_utilization)});
  if (!stated.max_model_len) out.push_back({"max_model_len", profiles::grouped(settings.max_model_len)});
  if (!stated.max_num_seqs) out.push_back({"max_num_seqs", profiles::grouped(settings.max_num_seqs)});
  if (!stated.max_num_batched_tokens)
    out.push_back({"max_num_batched_tokens", profiles::grouped(settings.max_num_batched_tokens)});
  return out;
}

std::optional<SolvedUtilization> solve_utilization(const BootLog& log, const planner::Question& question,
                                                   const planner::Numbers& numbers) {
  const planner::Serving& stated = question.serving;
  const std::optional<Logged<double>> available = smallest(log.available_kv);
  if (stated.gpu_memory_utilization || stated.kv_cache_memory_bytes || !available) return std::nullopt;
  const double total = log.total.empty() ? to_gib(numbers.total) : log.total.front().value;
  double requested = available->value;
  double squares = kHalfStep * kHalfStep;
  for (const Term& one : subtracted(log, numbers.stages.front().sums)) {
    requested += one.gib;
    squares += one.error * one.error;
  }
  SolvedUtilization out{.assumed = numbers.settings.gpu_memory_utilization, .error = std::sqrt(squares) / total};
  const double share = requested / total;
  if (!(share > 0 && share <= 1) || std::fabs(share - out.assumed) <= out.error) return std::nullopt;
  out.solved = round_share(share, out.error);
  return out;
}

std::optional<Cause> likely_cause(const BootLog& log, const std::string& first_outside,
                                  const std::optional<SolvedUtilization>& utilization, const planner::Evaluator& evaluator) {
  if (utilization && (first_outside == "requested" || first_outside == "available_kv")) {
    return Cause{
        format("the log does not state gpu_memory_utilization, so the engine's default {} was assumed; its figures "
               "ask for {} ±{:.3f}: compare again with --util {}",
               utilization->assumed, utilization->solved, std::max(utilization->error, 0.0005), utilization->solved),
        "(available KV + weights + activation + outside torch + graph estimate) / total, as the log prints them"};
  }
  const std::string symptom = symptom_of(log, first_outside);
  if (symptom.empty()) return std::nullopt;
  planner::Traits traits = planner::traits_of(evaluator.question());
  traits["symptom"] = symptom;
  const planner::Row* row = evaluator.question().rules->find("log_causes", traits);
  if (row == nullptr) return std::nullopt;
  return Cause{row->word("cause"), row->source};
}

}  // namespace kvfit::runtime
