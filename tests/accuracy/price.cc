#include "tests/accuracy/price.h"

#include <algorithm>

#include "profiles/error.h"
#include "tests/accuracy/layout_row.h"
#include "tests/accuracy/price_memory.h"
#include "tests/accuracy/solve.h"

namespace kvfit::accuracy {

namespace {

bool prints_capacity(const Observation& row) {
  const Measured& m = row.measured;
  return m.kv_tokens || m.concurrency || m.num_gpu_blocks || m.mamba_blocks;
}
bool prints_refusal(const Observation& row) {
  return row.measured.needed_kv || (row.measured.estimated_max_len && row.outcome != Outcome::good);
}

Groups groups_of(const Observation& row, bool unusual, bool fully_stated) {
  Groups out;
  out.fully_stated = fully_stated;
  out.uma_rocm = unusual;
  out.sweep = row.from_sweep && !unusual;
  out.field = !row.from_sweep && !unusual;
  return out;
}

Score score_of(Quantity quantity, const Solved& solved) {
  Score score;
  score.quantity = quantity;
  score.printed = solved.comparison.printed;
  score.predicted = solved.comparison.predicted;
  score.exact = solved.comparison.exact;
  score.error = score.exact ? 0 : solved.comparison.error_percent();
  score.solved = solved.choices;
  score.detail = solved.comparison.what;
  return score;
}

/// Runs `work` and keeps its score or the reason why there is none.
template <typename Work>
void attempt(RowScore& out, Quantity quantity, Work work) {
  try {
    std::optional<Score> score = work();
    if (score) out.scores.push_back(*score);
  } catch (const std::exception& error) {
    const profiles::Error* known = dynamic_cast<const profiles::Error*>(&error);
    out.skipped.push_back({quantity, known != nullptr ? known->message() : error.what()});
  }
}

void price_layout(const Library& library, const Observation& row, RowScore& out) {
  const Statement statement = statement_of_layout(row);
  out.groups = groups_of(row, false, statement.full());
  out.unstated = statement.missing();
  const auto compared = [&](Quantity quantity, auto compare) {
    attempt(out, quantity, [&]() -> std::optional<Score> {
      const planner::KvLayout layout = layout_of(row, *library.rules(row.layout->formulas));
      const std::optional<KvComparison> comparison =
          compare(layout, row.measured, row.arguments.max_model_len.value_or(0), in_flight_of(*row.layout));
      if (!comparison) return std::nullopt;
      return score_of(quantity, {*comparison, {}});
    });
  };
  if (prints_capacity(row)) compared(Quantity::kv_given_available, compare_capacity);
  if (prints_refusal(row)) compared(Quantity::refusal_numbers, compare_refusal);
}

/// Why the printed figures cannot be held against one rank's pool; empty when they can.
std::string not_comparable(const Observation& row, const Case& stated) {
  if (!stated.statement.drafter && row.arguments.speculative && row.arguments.speculative->method != "mtp")
    return "drafter of unknown shape";
  if (!stated.statement.drafter && row.arguments.speculative && !stated.question.model.draft)
    return "drafter of unknown shape";
  if (!stated.statement.smallest_rank) return "the printed rank is not the smallest one";
  return "";
}

void price_cache(const Library& library, const Observation& row, const Case& stated, RowScore& out) {
  const std::string reason = not_comparable(row, stated);
  const auto solved = [&](Quantity quantity, auto compare) {
    if (!reason.empty()) {
      out.skipped.push_back({quantity, reason});
      return;
    }
    attempt(out, quantity, [&]() -> std::optional<Score> {
      const std::optional<Solved> found = solve(library, row, stated, [&](const Capacity& capacity) {
        return compare(capacity.layout, row.measured, capacity.length, capacity.in_flight);
      });
      if (!found) return std::nullopt;
      return score_of(quantity, *found);
    });
  };
  if (prints_capacity(row)) {
    if (row.measured.available_kv) {
      solved(Quantity::kv_given_available, compare_capacity);
    } else {
      out.skipped.push_back({Quantity::kv_given_available, "available memory not printed"});
    }
  }
  if (prints_refusal(row)) solved(Quantity::refusal_numbers, compare_refusal);
}

/// Where the configuration does not say enough for a verdict, what the log printed still may: free memory against the
/// share asked for, the need of one request against the available memory.
std::optional<VerdictScore> verdict_of_print(const Library& library, const Observation& row,
                                             const std::optional<Machine>& machine) {
  if (row.outcome == Outcome::free_memory) return free_memory_verdict(row);
  const bool sized = row.outcome == Outcome::kv_too_small || row.outcome == Outcome::mamba_blocks;
  if (!sized || !row.measured.available_kv) return std::nullopt;
  try {
    const Case stated = case_of(library, row, machine);
    if (!not_comparable(row, stated).empty()) return std::nullopt;
    const Capacity capacity = capacity_of(stated.question);
    const profiles::Bytes available = profiles::from_gib(row.measured.available_kv->value);
    const profiles::Bytes need = planner::kv_needed(capacity.layout, capacity.length, capacity.in_flight);
    if (available < need) return judge(planner::Verdict::does_not_fit, "kv_one_request", row.outcome);
    const std::int64_t blocks = planner::pool_blocks(capacity.layout, available);
    const bool too_many = capacity.layout.hybrid.block_size > 0 && capacity.sequences > blocks;
    if (too_many) return judge(planner::Verdict::does_not_fit, "mamba_blocks", row.outcome);
    return judge(planner::Verdict::fits, "kv_one_request", row.outcome);
  } catch (const profiles::Error&) {
    return std::nullopt;
  }
}

void price_boot(const Library& library, const Observation& row, RowScore& out) {
  const std::optional<Machine> machine = machine_of(library.cards(), row);
  const bool unusual = machine ? machine->unusual : other_vendor(row);
  out.groups = groups_of(row, unusual, false);
  try {
    const Case stated = case_of(library, row, machine);
    out.groups.fully_stated = stated.statement.full();
    out.unstated = stated.statement.missing();
    out.unstated.insert(out.unstated.end(), stated.assumed.begin(), stated.assumed.end());
    price_cache(library, row, stated, out);
    price_memory(library, row, stated, out);
  } catch (const profiles::Error& error) {
    out.unpriced = error.message();
  }
  if (!out.verdict) out.verdict = verdict_of_print(library, row, machine);
  if (out.verdict) out.unpriced.reset();
}

}  // namespace

namespace {

RowScore priced(const Library& library, const Observation& row) {
  RowScore out;
  const std::optional<VerdictScore> at_start = row.outcome == Outcome::free_memory ? free_memory_verdict(row) : std::nullopt;
  if (row.engine != "vllm" && at_start) {
    out.verdict = at_start;
  } else if (row.engine != "vllm") {
    out.unpriced = "engine " + row.engine + " is not modelled";
  } else if (row.layout) {
    price_layout(library, row, out);
  } else {
    price_boot(library, row, out);
  }
  if (!out.unpriced && out.scores.empty() && !out.verdict) {
    out.unpriced = out.skipped.empty() ? "prints nothing that is predicted" : out.skipped.front().why;
  }
  return out;
}

}  // namespace

RowScore price(const Library& library, const Observation& row) {
  RowScore out;
  try {
    out = priced(library, row);
  } catch (const std::exception& error) {
    const profiles::Error* known = dynamic_cast<const profiles::Error*>(&error);
    out.unpriced = known != nullptr ? known->message() : error.what();
  }
  out.id = row.id;
  out.file = row.file;
  return out;
}

}  // namespace kvfit::accuracy
