#include "planner/trellis_gates.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::planner {
namespace {

using hardware::Gate;
using hardware::GateVerdict;
using profiles::format;
using profiles::grouped;

std::string tiers_text(const std::vector<int>& tiers) { return format("exl3 tiers ({})", profiles::join(tiers, ",")); }

Gate make(const models::TrellisLayout& layout, const char* rule, const Row& row) {
  return {.verdict = GateVerdict::native, .format = tiers_text(layout.expert_bits), .rule = rule, .source = row.source};
}

// Slices were encoded one by one: they can be neither joined nor cut further, nor dealt out whole.
Gate slices(const Question& question, const models::TrellisLayout& layout, const Row& row) {
  Gate out = make(layout, "trellis.slices", row);
  const Serving& serving = question.serving;
  if (serving.tensor_parallel_size != layout.ranks) {
    out.verdict = GateVerdict::refused;
    out.reason =
        format("the experts were sliced for tensor parallel size {} before encoding and load at no other; asked for {}",
               layout.ranks, serving.tensor_parallel_size);
  } else if (serving.enable_expert_parallel) {
    out.verdict = GateVerdict::refused;
    out.reason = "rank-sliced experts cannot be dealt out whole: no expert parallelism";
  }
  return out;
}

// The pair rule that a published page states instead; shown beside the one that decides.
std::string other_rule(const Rules& rules, const std::vector<int>& tiers) {
  for (const Row& row : rules.all("trellis_shared_memory")) {
    if (row.word("decides") == "yes") continue;
    const double bytes = row.value("base") + row.value("per_bit") * (tiers.front() + tiers.back() - row.value("pair"));
    return format("; the pair rule of {} gives {}", row.word("published"), grouped(std::llround(bytes)));
  }
  return "";
}

Gate shared_memory(const Question& question, const models::TrellisLayout& layout, const Traits& traits) {
  const Row& row = question.rules->pick("trellis_shared_memory", traits);
  Gate out = make(layout, "trellis.shared_memory", row);
  const std::int64_t need = trellis_shared_memory(*question.rules, traits, layout.expert_bits);
  const std::int64_t have = question.node.gpu.shared_memory_optin.value.count;
  const std::string sum = format("a block of 64 rows takes {} bytes of shared memory, {} allows {}{}", grouped(need),
                                 question.node.gpu.name, grouped(have), other_rule(*question.rules, layout.expert_bits));
  if (need > have) {
    out.verdict = GateVerdict::refused;
    out.reason = "the mixed-tier kernel does not fit: " + sum;
  } else {
    out.how = "mixed-tier Trellis kernel: " + sum;
  }
  return out;
}

}  // namespace

std::int64_t trellis_shared_memory(const Rules& rules, const Traits& traits, const std::vector<int>& tiers) {
  if (tiers.size() < 2) return 0;
  return std::llround(rules.pick("trellis_shared_memory", traits).value(format("k{}", tiers.back())));
}

std::vector<Gate> trellis_gates(const Question& question, const models::TrellisLayout& layout, const Traits& traits) {
  std::vector<Gate> out;
  if (layout.expert_bits.empty()) return out;
  if (layout.ranks > 0) out.push_back(slices(question, layout, question.rules->pick("trellis_shared_memory", traits)));
  if (layout.expert_bits.size() > 1) out.push_back(shared_memory(question, layout, traits));
  return out;
}

}  // namespace kvfit::planner
