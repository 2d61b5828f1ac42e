#include "tests/accuracy/price_memory.h"

#include <algorithm>
#include <cmath>

#include "models/tensor_inventory.h"
#include "planner/evaluator.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "tests/accuracy/open_questions.h"
#include "tests/accuracy/predicted.h"
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
  std::string weights, memory, graphs, available, verdict;
};

Reasons reasons_of(const Observation& row, const Case& stated) {
  Reasons out;
  const bool drafter = row.arguments.speculative && !stated.statement.drafter &&
                       (!row.arguments.speculative->drafter_known || !stated.question.model.draft);
  if (drafter) out.weights = "drafter of unknown shape";
  if (!stated.recipe_known) out.weights = "stored formats not known module by module";
  if (read_version(row.engine_version.value_or("")).patched) out.memory = "a patched build";
  if (!stated.machine_known) out.memory = "machine not stated";
  if (!row.tp && !row.gpu_count) out.weights = out.memory = "tensor parallel size not stated";
  out.available = !out.memory.empty() ? out.memory : drafter ? "drafter of unknown shape" : "";
  if (!stated.weights_priced) out.available = "stored format's bytes not known";
  const std::vector<std::string>& unknown = row.arguments.unknown;
  const auto hidden = [&unknown](const char* name) {
    return std::find(unknown.begin(), unknown.end(), name) != unknown.end();
  };
  if (out.memory.empty() && hidden("max_num_seqs")) out.memory = "max_num_seqs not known";
  out.graphs = out.memory.empty() && drafter ? "drafter of unknown shape" : out.memory;
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
  // A quoted command line leaves out what is the default; a report without a version may leave out anything.
  const bool length_open = !row.arguments.max_model_len && !row.measured.at_len && !stated.statement.version;
  if (out.verdict.empty() && length_open) out.verdict = "max_model_len not stated";
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

void add_scores(const Observation& row, const Reasons& reasons, const Predicted& predicted, RowScore& out) {
  const std::int64_t ranks = row.tp.value_or(1) * row.pp.value_or(1);
  const Measured& m = row.measured;
  add(out, Quantity::weights, m.weights, predicted.weights, reasons.weights);
  add(out, Quantity::activation, m.activation, predicted.activation, reasons.memory);
  add(out, Quantity::non_torch, m.non_torch, predicted.non_torch, reasons.memory);
  const bool captured = m.graphs && m.graphs->value > 0 && predicted.captures;
  if (captured) add(out, Quantity::graphs, m.graphs, predicted.graphs, reasons.graphs);
  const Quantity available = ranks > 1 ? Quantity::available_kv_tp : Quantity::available_kv_tp1;
  // Pages that say "0" for a refusal do not print how far below it was.
  const bool clipped = row.outcome == Outcome::no_blocks && m.available_kv && m.available_kv->value == 0;
  if (!clipped) add(out, available, m.available_kv, predicted.available, reasons.available);
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

/// Free memory in the log is what is left once communicators exist; the planner takes them off itself, so they are given
/// back.
Evaluator evaluator_of(const Observation& row, planner::Question question) {
  question.inventory = std::make_shared<const models::TensorInventory>(models::derive_inventory(question.model));
  Evaluator evaluator(question);
  if (!row.measured.free_at_start) return evaluator;
  const Numbers numbers = evaluator.numbers(evaluator.stated_point());
  question.node.used_elsewhere -= numbers.stages.front().sums.before_engine.bytes;
  return Evaluator(std::move(question));
}

/// Since 0.26 the peak that is printed holds the graph estimate.
bool estimate_in_peak(const Observation& row, const Case& stated) {
  const planner::Version& version = stated.question.rules->version();
  const bool newer = planner::compare(version, planner::parse_version("0.26.0.dev1")) > 0;
  return row.measured.consumed || (newer && !row.measured.non_torch);
}

void skip_figures(const Observation& row, const std::exception& error, RowScore& out) {
  const profiles::Error* known = dynamic_cast<const profiles::Error*>(&error);
  const std::string why = known != nullptr ? known->message() : error.what();
  const bool one = row.tp.value_or(1) * row.pp.value_or(1) == 1;
  const Measured& m = row.measured;
  if (m.weights) out.skipped.push_back({Quantity::weights, why});
  if (m.available_kv) out.skipped.push_back({one ? Quantity::available_kv_tp1 : Quantity::available_kv_tp, why});
  if (m.activation) out.skipped.push_back({Quantity::activation, why});
  if (m.non_torch) out.skipped.push_back({Quantity::non_torch, why});
  if (m.graphs) out.skipped.push_back({Quantity::graphs, why});
}

/// By so much two checkpoints of one model in one format differ: attention, the linear layers beside it, head and embedding
/// are quantised or left in 16 bits. Qwen3-Next and Qwen3.5 in W4A16: 10 and 14 %; Qwen3.8-27B in NVFP4: 17.3 to 23.9 GiB.
constexpr double kRecipeSpread = 0.1;

bool is_no(Verdict verdict) { return verdict == Verdict::does_not_fit || verdict == Verdict::refused; }

/// The stated question's figures, with bars that reach what the row's gaps leave possible.
Predicted predicted_with_gaps(const Library& library, const Observation& row, const Case& stated, const Numbers& numbers) {
  const bool merged = estimate_in_peak(row, stated);
  const Predicted asked = predicted_of(numbers, row, merged);
  Predicted out = asked;
  for (const std::vector<planner::Question>& gap : open_questions(library, row, stated)) {
    std::vector<Predicted> others;
    for (const planner::Question& question : gap) {
      try {
        const Evaluator evaluator = evaluator_of(row, question);
        others.push_back(predicted_of(evaluator.numbers(evaluator.stated_point()), row, merged));
      } catch (const profiles::Error&) {
        continue;  // that release would have refused the question: not a possibility
      }
    }
    widen(out, asked, others);
  }
  if (!stated.recipe_known) {
    const Bytes unsure(std::llround(kRecipeSpread * static_cast<double>(out.weights.bytes.count)));
    out.available.error = planner::quadrature({out.available.error, unsure});
  }
  return out;
}

/// A yes or no that another reading of the row turns round is not sure.
void temper(const planner::Question& question, VerdictScore& verdict) {
  const Evaluator evaluator(question);
  const planner::Plan other = evaluator.plan(evaluator.stated_point());
  if (is_no(other.verdict) != is_no(verdict.verdict)) verdict = judge(Verdict::tight, "unstated", verdict.recorded);
}

/// Readings whose answer may differ: an earlier release where nothing dates the engine, the tower where a table only says
/// that nobody sent images.
std::vector<planner::Question> turning_questions(const Observation& row, const Case& stated,
                                                 const planner::Question& asked) {
  std::vector<planner::Question> out;
  if (stated.other_rules) {
    out.push_back(asked);
    out.back().rules = stated.other_rules;
  }
  if (const std::optional<planner::Question> with_tower = tower_question(row, asked)) out.push_back(*with_tower);
  return out;
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

std::optional<Predicted> predict(const Library& library, const Observation& row) {
  try {
    const Case stated = case_of(library, row, machine_of(library.cards(), row));
    const Evaluator evaluator = evaluator_of(row, stated.question);
    const Numbers numbers = evaluator.numbers(evaluator.stated_point());
    return predicted_of(numbers, row, estimate_in_peak(row, stated));
  } catch (const profiles::Error&) {
    return std::nullopt;
  }
}

void price_memory(const Library& library, const Observation& row, const Case& stated, RowScore& out) {
  const Reasons reasons = reasons_of(row, stated);
  try {
    const Evaluator evaluator = evaluator_of(row, stated.question);
    const Numbers numbers = evaluator.numbers(evaluator.stated_point());
    out.breakdown = breakdown_of(numbers);
    add_scores(row, reasons, predicted_with_gaps(library, row, stated, numbers), out);
    const bool judged = row.outcome != Outcome::unstated && row.outcome != Outcome::aside && row.outcome != Outcome::kernel;
    if (judged && reasons.verdict.empty()) {
      const planner::Plan plan = evaluator.plan(evaluator.stated_point());
      out.verdict = judge(plan.verdict, stopping_check(plan), row.outcome);
      for (const planner::Question& other : turning_questions(row, stated, evaluator.question()))
        temper(other, *out.verdict);
    }
  } catch (const std::exception& error) {
    skip_figures(row, error, out);
  }
}

}  // namespace kvfit::accuracy
