// The short table that README.md carries.
#include "profiles/text.h"
#include "tests/accuracy/report.h"
#include "tests/accuracy/statistics.h"

namespace kvfit::accuracy {

using profiles::format;

namespace {

struct Line {
  const char* text;
  Quantity quantity;
  Group group;
  bool exact;  ///< the share right to print rounding is the point, not the error
};

constexpr Line kLines[] = {
    {"KV tokens, concurrency and blocks given available KV, fully stated rows", Quantity::kv_given_available,
     Group::fully_stated, true},
    {"the same, all rows, unstated arguments solved for", Quantity::kv_given_available, Group::all, true},
    {"needed KV and estimated maximum length in refusals", Quantity::refusal_numbers, Group::all, true},
    {"weights per rank, known recipe", Quantity::weights, Group::all, false},
    {"available KV, one GPU, published sweep", Quantity::available_kv_tp1, Group::sweep, false},
    {"available KV, one GPU, field", Quantity::available_kv_tp1, Group::field, false},
    {"available KV, two and more GPUs, published sweep", Quantity::available_kv_tp, Group::sweep, false},
    {"available KV, two and more GPUs, field", Quantity::available_kv_tp, Group::field, false},
    {"peak activation", Quantity::activation, Group::all, false},
    {"non-torch memory", Quantity::non_torch, Group::all, false},
    {"CUDA graphs", Quantity::graphs, Group::all, false},
};

std::string share(int part, int whole) { return whole == 0 ? "-" : format("{} of {}", part, whole); }

}  // namespace

std::string markdown(std::span<const RowScore> rows) {
  std::string out =
      "| predicted against printed | rows | median error | 90 % of rows within | inside the 90 % bar "
      "|\n|---|---|---|---|---|\n";
  for (const Line& line : kLines) {
    const Summary s = summarise(rows, line.quantity, line.group);
    const std::string unit = quantity_unit(line.quantity);
    const std::string bar = s.coverage ? format("{:.0f} %", 100 * *s.coverage) : "";
    if (line.exact) {
      out += format("| {} | {} | exact in {:.0f} % | | |\n", line.text, s.n, 100 * s.exact);
    } else {
      out += format("| {} | {} | {:.3f} {} | {:.3f} {} | {} |\n", line.text, s.n, s.median_abs, unit, s.p90_abs, unit, bar);
    }
  }
  const Verdicts v = count_verdicts(rows);
  out += "\n| verdicts | |\n|---|---|\n";
  out += format("| recorded refusals called (by the check that failed) | {} ({}) |\n", share(v.called, v.failures),
                v.class_named);
  out += format("| recorded out-of-memory answered no or tight | {} |\n", share(v.oom_called, v.oom));
  out += format("| good boots refused; called tight | {}; {} |\n", share(v.refused_good, v.good), v.tight_good);
  return out;
}

}  // namespace kvfit::accuracy
