#include "tests/accuracy/price_memory.h"

#include <algorithm>
#include <cmath>

#include "models/tensor_inventory.h"
#include "planner/evaluator.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "tests/accuracy/spelling.h"

namespace kvfit::accuracy {

using planner::Amount;
using planner::Evaluator;
using planner::Numbers;
using planner::StageNumbers;
using planner::Verdict;
using profiles::Bytes;
using profiles::to_gib;

namespace {

/// Why a figure of this row cannot be predicted from its configuration; empty when it can.
struct Reasons {
  std::string weights, memory, available, verdict;
};

Reasons reasons_of(const Observation& row, const Case& stated) {
  Reasons out;
  const bool drafter = row.arguments.speculative && !stated.statement.drafter &&
                       (!row.arguments.speculative->drafter_known || !stated.question.model.draft);
  if (drafter) out.weights = "drafter of unknown shape";
  if (!stated.recipe_known) out.weights = "stored formats not known module by module";
  if (read_version(row.engine_version.value_or("")).patched) out.memory = "a patched build";
  if (!stated.machine_known) out.memory = "machine not stated";
  out.available = !out.memory.empty() ? out.memory : drafter ? "drafter of unknown shape" : "";
  if (!stated.weights_priced) out.available = "stored format's bytes not known";
  const std::vector<std::string>& unknown = row.arguments.unknown;
  const auto hidden = [&unknown](const char* name) {
    return std::find(unknown.begin(), unknown.end(), name) != unknown.end();
  };
  if (out.memory.empty() && hidden("max_num_seqs")) out.memory = "max_num_seqs not known";
  if (out.available.empty()) out.available = out.memory;
  const bool share_hidden = hidden("gpu_memory_utilization") && !stated.question.serving.gpu_memory_utilization;
  if (out.available.empty() && share_hidden) out.available = "utilisation not known";
  const bool share_known = stated.question.serving.gpu_memory_utilization || stated.statement.version;
  if (!share_known && out.available.empty()) out.available = "neither utilisation nor version stated";
  out.verdict = out.available;
  // One state a sequence: without the number of sequences nobody can say whether such a model starts.
  const bool counts =
      keeps_states(stated.question.model) && !row.arguments.max_num_seqs && !row.arguments.enforce_eager.value_or(false);
  if (out.verdict.empty() && counts) out.verdict = "max_num_seqs not stated";
  if (!stated.format_stated && out.available.empty()) out.available = "stored format not stated";
  if (!stated.format_stated && out.verdict.empty()) out.verdict = out.available;
  if (row.arguments.kv_cache_memory_bytes) out.available = "pool given, not sized";
  return out;
}

Score score_of(Quantity quantity, const Printed& printed, Amount amount) {
  Score score;
  score.quantity = quantity;
  score.printed = printed.value;
  score.predicted = to_gib(amount.bytes);
  score.error = score.predicted - score.printed;
  score.bar = to_gib(amount.error) + printed.half_step;
  score.exact = std::abs(score.error) <= printed.half_step + 1e-9;
  if (quantity == Quantity::weights && printed.value > 0) {
    score.error *= 100 / printed.value;
    score.bar = *score.bar * 100 / printed.value;
  }
  return score;
}

void add(RowScore& out, Quantity quantity, const Size& printed, Amount amount, const std::string& reason) {
  if (!printed) return;
  if (reason.empty()) {
    out.scores.push_back(score_of(quantity, *printed, amount));
  } else {
    out.skipped.push_back({quantity, reason});
  }
}

/// What the first stage holds: the rank whose lines a log shows.
/// `merged`: this version adds the graph estimate to the peak it prints.
void add_scores(const Observation& row, const Reasons& reasons, const Numbers& numbers, bool merged, RowScore& out) {
  const std::int64_t ranks = row.tp.value_or(1) * row.pp.value_or(1);
  const Measured& m = row.measured;
  const StageNumbers& first = numbers.stages.front();
  add(out, Quantity::weights, m.weights, first.sums.weights, reasons.weights);
  Amount activation = first.sums.activation;
  if (merged) {
    activation.bytes += first.sums.graph_estimate.bytes;
    activation.error = planner::quadrature({activation.error, first.sums.graph_estimate.error});
  }
  add(out, Quantity::activation, m.activation, activation, reasons.memory);
  add(out, Quantity::non_torch, m.non_torch, first.sums.non_torch, reasons.memory);
  const bool captured = m.graphs && m.graphs->value > 0 && !numbers.settings.eager;
  if (captured) add(out, Quantity::graphs, m.graphs, first.sums.graphs, reasons.memory);
  const Quantity available = ranks > 1 ? Quantity::available_kv_tp : Quantity::available_kv_tp1;
  // Pages that say "0" for a refusal do not print how far below it was.
  const bool clipped = row.outcome == Outcome::no_blocks && m.available_kv && m.available_kv->value == 0;
  if (!clipped) add(out, available, m.available_kv, {first.available, first.available_error}, reasons.available);
}

std::string breakdown_of(const Numbers& n) {
  const StageNumbers& first = n.stages.front();
  const auto gib = [](Bytes bytes) { return to_gib(bytes); };
  return profiles::format(
      "total {:.2f} free {:.2f} requested {:.2f} = weights {:.2f} + activation {:.2f} + non-torch {:.2f} + estimate {:.2f} "
      "+ KV {:.2f} "
      "(±{:.2f}); one request {:.2f}; graphs {:.2f}, outside {:.2f}; S {} T {} L {}",
      gib(n.total), gib(n.free_at_start - first.sums.before_engine.bytes), gib(n.requested), gib(first.sums.weights.bytes),
      gib(first.sums.activation.bytes), gib(first.sums.non_torch.bytes), gib(first.sums.graph_estimate.bytes),
      gib(first.available), gib(first.available_error), gib(first.needed), gib(first.sums.graphs.bytes),
      gib(first.sums.outside.bytes), n.settings.max_num_seqs, n.settings.max_num_batched_tokens, n.settings.max_model_len);
}

/// What the engine would stop at: the first failing check in its own order, else the check that decides.
std::string stopping_check(const planner::Plan& plan) {
  for (const planner::Check& check : plan.checks) {
    if (check.verdict == Verdict::does_not_fit) return check.id;
  }
  return plan.binding;
}

/// Free memory in the log is what is left once communicators exist; the planner takes them off itself.
void give_back_communicators(planner::Question& question, const Numbers& numbers) {
  question.node.used_elsewhere -= numbers.stages.front().sums.before_engine.bytes;
}

bool is_no(Verdict verdict) { return verdict == Verdict::does_not_fit || verdict == Verdict::refused; }

/// With an unknown version a yes or no that another release turns round is not sure.
void temper(planner::Question question, const std::shared_ptr<const planner::Rules>& rules, VerdictScore& verdict) {
  question.rules = rules;
  const Evaluator evaluator(question);
  const planner::Plan other = evaluator.plan(evaluator.stated_point());
  if (is_no(other.verdict) != is_no(verdict.verdict)) verdict = judge(Verdict::tight, "version", verdict.recorded);
}

}  // namespace

Outcome outcome_of_check(const std::string& id) {
  if (id == "free_memory") return Outcome::free_memory;
  if (id == "kv_blocks") return Outcome::no_blocks;
  if (id == "kv_one_request") return Outcome::kv_too_small;
  if (id == "mamba_blocks") return Outcome::mamba_blocks;
  return Outcome::oom;
}

VerdictScore judge(Verdict verdict, const std::string& binding, Outcome recorded) {
  VerdictScore out;
  out.verdict = verdict;
  out.binding = binding;
  out.recorded = recorded;
  const bool no = verdict == Verdict::does_not_fit || verdict == Verdict::refused;
  out.called = no || (recorded == Outcome::oom && verdict == Verdict::tight);
  out.class_named = no && outcome_of_check(binding) == recorded;
  return out;
}

std::optional<VerdictScore> free_memory_verdict(const Observation& row) {
  const Measured& m = row.measured;
  if (!m.free_at_start) return std::nullopt;
  std::optional<double> requested;
  if (row.total_gib && row.arguments.gpu_memory_utilization)
    requested = *row.total_gib * *row.arguments.gpu_memory_utilization;
  if (!requested && m.requested) requested = m.requested->value;
  if (!requested) return std::nullopt;
  const bool short_of = m.free_at_start->value < *requested;
  return judge(short_of ? Verdict::does_not_fit : Verdict::fits, "free_memory", row.outcome);
}

void price_memory(const Observation& row, const Case& stated, RowScore& out) {
  const Reasons reasons = reasons_of(row, stated);
  try {
    planner::Question question = stated.question;
    question.inventory = std::make_shared<const models::TensorInventory>(models::derive_inventory(question.model));
    std::optional<Evaluator> evaluator(std::in_place, question);
    if (row.measured.free_at_start) {
      give_back_communicators(question, evaluator->numbers(evaluator->stated_point()));
      evaluator.emplace(question);
    }
    const Numbers numbers = evaluator->numbers(evaluator->stated_point());
    out.breakdown = breakdown_of(numbers);
    const bool newer = planner::compare(question.rules->version(), planner::parse_version("0.26.0.dev1")) > 0;
    const bool merged = row.measured.consumed || (newer && !row.measured.non_torch);
    add_scores(row, reasons, numbers, merged, out);
    const bool judged = row.outcome != Outcome::unstated && row.outcome != Outcome::aside && row.outcome != Outcome::kernel;
    if (judged && reasons.verdict.empty()) {
      const planner::Plan plan = evaluator->plan(evaluator->stated_point());
      out.verdict = judge(plan.verdict, stopping_check(plan), row.outcome);
      if (stated.other_rules) temper(question, stated.other_rules, *out.verdict);
    }
  } catch (const std::exception& error) {
    const profiles::Error* known = dynamic_cast<const profiles::Error*>(&error);
    const std::string why = known != nullptr ? known->message() : error.what();
    if (row.measured.weights) out.skipped.push_back({Quantity::weights, why});
    if (row.measured.available_kv) {
      const bool one = row.tp.value_or(1) * row.pp.value_or(1) == 1;
      out.skipped.push_back({one ? Quantity::available_kv_tp1 : Quantity::available_kv_tp, why});
    }
  }
}

}  // namespace kvfit::accuracy
