#include "planner/evaluator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "planner/kv_capacity.h"
#include "planner/machine_entries.h"
#include "planner/traits.h"
#include "planner/verdict.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::planner {
namespace {

using hardware::ByteRange;
using profiles::format;

Bytes half_width(const ByteRange& range) { return Bytes((range.high.count - range.low.count) / 2); }

// The engine's own rounding: ceil(total x utilisation), in double as the engine does it.
Bytes requested_bytes(Bytes total, double utilization) {
  return Bytes(static_cast<std::int64_t>(std::ceil(static_cast<double>(total.count) * utilization)));
}

}  // namespace

Evaluator::Evaluator(Question question)
    : question_(std::move(question)),
      total_(hardware::total_memory(question_.node)),
      free_(hardware::free_at_start(question_.node)) {}

Evaluator::Evaluator(Question question, const Evaluator& like) : Evaluator(std::move(question)) {
  if (same_weights(question_, like.question_)) weights_ = like.weights_;
}

const Settings& Evaluator::settings() const { return prepared({}).settings; }

Point Evaluator::stated_point() const {
  const Settings& s = settings();
  const std::int64_t fixed = question_.search.experts_fixed;
  Point out{.experts = fixed > 0 ? fixed : models::expert_count(question_.model),
            .max_model_len = s.max_model_len,
            .max_num_seqs = s.max_num_seqs,
            .utilization = s.gpu_memory_utilization};
  if (s.auto_max_model_len) {
    const std::int64_t fits = numbers(out).kv.estimated_max_len;
    if (fits > 0) out.max_model_len = fits;
  }
  return out;
}

// A default-constructed point asks for the question as stated. The batch depends on the length only where the engine cuts it
// to max_num_seqs x max_model_len; those few short configurations are prepared by themselves.
const Evaluator::Prepared& Evaluator::prepared(const Point& point) const {
  std::pair<std::int64_t, std::int64_t> key(0, 0);
  if (point.max_num_seqs > 0) {
    const Settings& stated = prepared({}).settings;
    const bool cut = point.max_num_seqs * point.max_model_len < stated.max_num_batched_tokens;
    if (cut || point.max_num_seqs != stated.max_num_seqs) key = {point.max_num_seqs, cut ? point.max_model_len : 0};
  }
  std::unique_ptr<Prepared>& slot = cache_[key];
  if (slot) return *slot;
  Question question = question_;
  if (key.first > 0) question.serving.max_num_seqs = key.first;
  if (key.second > 0) question.serving.max_model_len = key.second;
  std::unique_ptr<Prepared> made = std::make_unique<Prepared>();
  made->traits = stated_traits(question);
  made->settings = resolve_settings(question, made->traits);
  add_settings(made->traits, made->settings);
  made->refused = refusals(question, made->settings, made->traits);
  made->ranks = distinct_ranks(question.model, made->settings);
  for (std::size_t i = 0; i < made->ranks.size(); ++i) {
    const std::shared_ptr<const LoadedWeights> known = i < weights_.size() ? weights_[i] : nullptr;
    made->memory.emplace_back(question, made->settings, made->traits, made->ranks[i], known);
    if (!known) weights_.push_back(made->memory.back().shared_weights());
  }
  const Speculative* speculative = question.serving.speculative ? &*question.serving.speculative : nullptr;
  made->layouts = kv_layouts(question.model, speculative, made->settings, *question.rules, made->traits);
  slot = std::move(made);
  return *slot;
}

Settings Evaluator::settings_at(const Prepared& prepared, const Point& point) const {
  Settings settings = prepared.settings;
  if (point.max_model_len > 0) settings.max_model_len = point.max_model_len;
  if (point.utilization > 0) settings.gpu_memory_utilization = point.utilization;
  return settings;
}

StageNumbers Evaluator::stage_numbers(const Prepared& prepared, const Settings& settings, std::size_t stage,
                                      std::int64_t experts, Bytes requested) const {
  const MemoryModel& memory = prepared.memory[stage];
  const KvLayout& layout = prepared.layouts[stage];
  StageNumbers out;
  out.sums = memory.sums(settings, experts);
  apply(question_.corrections, out.sums);
  if (question_.serving.kv_cache_memory_bytes) {
    out.available = *question_.serving.kv_cache_memory_bytes;
  } else {
    out.available = requested - out.sums.budgeted();
    const double share = settings.gpu_memory_utilization;
    const Bytes total_error(std::llround(static_cast<double>(half_width(total_).count) * share));
    out.available_error = quadrature({total_error, out.sums.budgeted_error()});
  }
  out.checked = kv_checked(layout, out.available);
  // A length the engine chooses is what fits; it gives up where not even one block does.
  const std::int64_t length = settings.auto_max_model_len ? layout.block_size : settings.max_model_len;
  out.needed = kv_needed(layout, length, settings.in_flight_tokens);
  out.profiling_cache = Bytes(memory.profiling_blocks(settings) * layout.bytes_per_block);
  return out;
}

Numbers Evaluator::numbers(const Point& point) const {
  const Prepared& at = prepared(point);
  Numbers out;
  out.settings = settings_at(at, point);
  out.experts = point.experts;
  out.total = total_.likely;
  out.total_error = half_width(total_);
  out.free_at_start = free_.likely;
  out.free_error = Bytes(std::max<std::int64_t>(half_width(free_).count - out.total_error.count, 0));
  out.requested = requested_bytes(out.total, out.settings.gpu_memory_utilization);
  const Row* start = question_.rules->find("start_check", at.traits);
  out.refused = at.refused;
  out.start_checked = start == nullptr || !start->is("check", "none");
  out.stages.reserve(at.memory.size());
  std::vector<Bytes> available;
  for (std::size_t stage = 0; stage < at.memory.size(); ++stage) {
    out.stages.push_back(stage_numbers(at, out.settings, stage, point.experts, out.requested));
    available.push_back(out.stages.back().available);
  }
  const std::int64_t blocks = common_blocks(at.layouts, available);
  const std::size_t least = static_cast<std::size_t>(std::min_element(out.stages.begin(), out.stages.end(),
                                                                      [](const StageNumbers& a, const StageNumbers& b) {
                                                                        return a.checked - a.needed < b.checked - b.needed;
                                                                      }) -
                                                     out.stages.begin());
  out.kv = kv_capacity(at.layouts[least], available[least], out.settings.max_model_len, out.settings.in_flight_tokens,
                       question_.serving.num_gpu_blocks_override.value_or(0), blocks);
  out.blocks_override = question_.serving.num_gpu_blocks_override.value_or(0);
  out.sequence_limit = sequence_limit(at.layouts[least], out.kv.num_gpu_blocks);
  out.length_limit = question_.model.max_position;
  out.batch_at_least = at.layouts[least].least_batch;
  return out;
}

KvCapacity Evaluator::capacity(const Point& point, Bytes available, std::size_t stage) const {
  const Prepared& at = prepared(point);
  const Settings settings = settings_at(at, point);
  return kv_capacity(at.layouts[stage], available, settings.max_model_len, settings.in_flight_tokens,
                     question_.serving.num_gpu_blocks_override.value_or(0));
}

Amount Evaluator::graph_estimate(const Point& point) const {
  const Prepared& at = prepared(point);
  Amount out = at.memory.front().graphs().estimate(settings_at(at, point));
  for (const Correction& correction : question_.corrections) {
    if (correction.quantity == Quantity::graph_estimate) out = {out.bytes + correction.difference, correction.error};
  }
  return out;
}

Outcome Evaluator::probe(const Point& point) const {
  const std::vector<Check> checks = make_checks(numbers(point), bar_factor(question_.confidence));
  const Check* binding = binding_check(checks);
  return {.verdict = binding->verdict, .binding = binding->id, .margin = binding->margin(), .error = binding->error};
}

Ledger Evaluator::ledger(const Prepared& prepared, const Numbers& numbers, std::size_t stage) const {
  Ledger out;
  out.stage = static_cast<int>(stage);
  out.rank = prepared.ranks[stage].global;
  out.total = numbers.total;
  for (Entry& entry : machine_entries(question_.node)) out.entries.push_back(std::move(entry));
  for (Entry& entry : prepared.memory[stage].entries(numbers.settings, numbers.experts))
    out.entries.push_back(std::move(entry));
  const MemorySums predicted = prepared.memory[stage].sums(numbers.settings, numbers.experts);
  for (Entry& entry : correction_entries(question_.corrections, predicted)) out.entries.push_back(std::move(entry));
  const KvLayout& layout = prepared.layouts[stage];
  const std::int64_t blocks = std::max<std::int64_t>(numbers.kv.num_gpu_blocks, 0);
  out.entries.push_back({.label = "kv_cache",
                         .text = format("KV cache ({} blocks of {} tokens, {})", profiles::grouped(blocks),
                                        layout.block_size, numbers.settings.kv_cache_dtype),
                         .section = Section::kv_cache,
                         .bytes = Bytes(layout.bytes_per_block) * blocks,
                         .error = numbers.stages[stage].available_error,
                         .provenance = Provenance::derived,
                         .source = "floor(available / bytes per block) x bytes per block"});
  close(out);
  verify(out);
  return out;
}

Plan Evaluator::plan(const Point& point) const {
  const Prepared& at = prepared(point);
  const Numbers all = numbers(point);
  Plan out;
  out.settings = all.settings;
  out.experts = all.experts;
  out.kv = all.kv;
  for (std::size_t stage = 0; stage < at.memory.size(); ++stage) out.ledgers.push_back(ledger(at, all, stage));
  out.checks = make_checks(all, bar_factor(question_.confidence));
  describe(out.checks, all);
  const Check* binding = binding_check(out.checks);
  out.verdict = binding->verdict;
  out.binding = binding->id;
  return out;
}

}  // namespace kvfit::planner
