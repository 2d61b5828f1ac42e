#include "planner/search.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/checkpoint_size.h"
#include "planner/gates.h"
#include "planner/levers.h"
#include "planner/missing.h"
#include "planner/verdict.h"
#include "profiles/text.h"

namespace kvfit::planner {
namespace {

using profiles::format;

// Whether a carve to `experts` keeps the hard rules of every MoE layer (models::with_experts states them).
bool allowed(const Question& question, std::int64_t experts) {
  for (const models::Layer& layer : question.model.layers) {
    if (!layer.moe) continue;
    const models::Moe& moe = *layer.moe;
    if (experts <= moe.top_k || experts % 4 != 0 || (moe.groups > 1 && experts % moe.groups != 0)) return false;
  }
  const std::int64_t ranks = question.serving.tensor_parallel_size * question.serving.data_parallel_size;
  return !question.serving.enable_expert_parallel || experts % ranks == 0;
}

std::vector<std::int64_t> expert_choices(const Question& question, std::int64_t all) {
  if (!question.search.experts || all == 0) return {all};
  std::vector<std::int64_t> out;
  const std::int64_t step = std::max<std::int64_t>(question.search.experts_step, 1);
  for (std::int64_t n = step; n < all; n += step) {
    if (n >= question.search.experts_min && allowed(question, n)) out.push_back(n);
  }
  out.push_back(all);
  return out;
}

// 8192, 12288, 16384, 24576 ... and the limit itself.
std::vector<std::int64_t> context_choices(const Question& question, std::int64_t stated) {
  if (!question.search.context) return {stated};
  std::vector<std::int64_t> out;
  for (const std::int64_t length : question.search.contexts) {
    if (length <= stated) out.push_back(length);
  }
  if (out.empty()) {
    for (std::int64_t length = 8192; length < stated; length *= 2) {
      out.push_back(length);
      if (length / 2 * 3 < stated) out.push_back(length / 2 * 3);
    }
    out.push_back(stated);
  }
  return out;
}

std::vector<std::int64_t> sequence_choices(const Question& question, std::int64_t stated) {
  if (!question.search.sequences) return {stated};
  std::vector<std::int64_t> out;
  for (std::int64_t n = std::max<std::int64_t>(question.search.sequences_min, 1); n < stated; n *= 2) out.push_back(n);
  out.push_back(stated);
  return out;
}

void finish_rungs(const Question& question, std::vector<Rung>& rungs) {
  Traits traits = traits_of(question);
  const std::int64_t all = models::expert_count(question.model);
  const models::CheckpointSize size =
      question.inventory ? models::checkpoint_size(*question.inventory, all) : models::CheckpointSize{};
  for (Rung& rung : rungs) {
    rung.checkpoint = size.at(rung.experts);
    if (rung.experts <= 0) continue;
    traits["experts"] = static_cast<double>(rung.experts);
    const Row* row = question.rules->find("expert_kernels", traits);
    if (row != nullptr) rung.remark = row->word("remark");
  }
}

bool refused(const std::vector<hardware::Gate>& gates) {
  return std::any_of(gates.begin(), gates.end(),
                     [](const hardware::Gate& gate) { return gate.verdict == hardware::GateVerdict::refused; });
}

void apply_gates(Plan& plan, std::vector<hardware::Gate> gates) {
  plan.gates = std::move(gates);
  if (!refused(plan.gates)) return;
  plan.verdict = Verdict::refused;
  plan.binding = "gate";
  for (Rung& rung : plan.ladder) rung.verdict = Verdict::refused;
  plan.levers.clear();
}

}  // namespace

Bounds bounds_of(const Question& question, const Point& stated) {
  return {.experts = expert_choices(question, stated.experts),
          .contexts = context_choices(question, stated.max_model_len),
          .sequences = sequence_choices(question, stated.max_num_seqs),
          .utilization = stated.utilization};
}

Plan evaluate(const Question& question) {
  const Evaluator evaluator(question);
  Plan out = evaluator.plan(evaluator.stated_point());
  apply_missing(question, out);
  apply_gates(out, gates_of(question, out.settings));
  return out;
}

Plan make_plan(const Question& question) {
  const Evaluator evaluator(question);
  const Point stated = evaluator.stated_point();
  if (!evaluator.numbers(stated).refused.empty()) return evaluate(question);  // nothing that is searched mends it
  const Bounds bounds = bounds_of(question, stated);
  const Probe probe = [&evaluator](const Point& point) { return evaluator.probe(point); };
  const std::vector<Axis> preference = parse_preference(question.search.prefer);
  std::optional<Point> chosen = best_point(bounds, preference, probe, Verdict::fits);
  if (!chosen) chosen = best_point(bounds, preference, probe, Verdict::tight);
  if (!chosen) {
    chosen = stated;
    chosen->max_model_len = bounds.contexts.front();
    chosen->max_num_seqs = bounds.sequences.front();
  }
  Plan out = evaluator.plan(*chosen);
  out.ladder = ladder(bounds, probe);
  finish_rungs(question, out.ladder);
  out.levers = levers_of(evaluator, *chosen, bounds);
  out.highest_safe_utilization = highest_utilization(*chosen, probe);
  apply_missing(question, out);
  apply_gates(out, gates_of(question, out.settings));
  return out;
}

}  // namespace kvfit::planner
