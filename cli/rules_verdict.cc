// Findings that are the answer itself: fit, formats, headroom.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/check_rules.h"
#include "cli/findings.h"
#include "cli/words.h"
#include "models/model.h"
#include "planner/search.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using planner::Check;
using planner::Verdict;
using profiles::format;
using profiles::Where;
using runtime::place_of;

// The flag to point at for each check.
Where blamed(const RuleInput& input, std::string_view check) {
  const runtime::Deployment& d = input.deployment;
  if (check == "kv_one_request" || check == "kv_blocks") return place_of(d, {"max-model-len", "gpu-memory-utilization"});
  if (check == "free_memory" || check == "run" || check == "graph_profiling" || check == "profile_run") {
    return place_of(d, {"gpu-memory-utilization", "max-num-seqs", "max-model-len"});
  }
  if (check == "mamba_blocks") return place_of(d, {"max-num-seqs", "gpu-memory-utilization"});
  if (check == "align_block") return place_of(d, {"max-num-batched-tokens", "max-num-seqs"});
  if (check == "model_length") return place_of(d, {"max-model-len"});
  if (d.model) return d.model->where;
  return d.where;
}

// Checks with findings of their own.
std::string_view own_id(std::string_view check) {
  if (check == "mamba_blocks") return "KVF004";
  if (check == "align_block") return "KVF005";
  return check == "model_length" ? "KVF014" : "";
}

std::string own_hint(const Check& check) {
  if (check.id == "mamba_blocks") {
    return *check.have_count > 0 ? format("--max-num-seqs {} is the most that starts", *check.have_count)
                                 : "leave more memory for the cache";
  }
  if (check.id == "align_block") return format("--max-num-batched-tokens {} is the least that starts", *check.need_count);
  return format("--max-model-len {} is the longest", *check.have_count);
}

std::string shortfall(const Check& check) {
  if (check.need_count) return "";
  return format(": lacks {} GiB{}{}", gib(-check.margin()), check.error.count > 0 ? " ±" + gib(check.error) : "",
                check.certain ? "" : ", a fit is within the error bar");
}

// A carve is a concession too: how many experts would fit as everything else stands.
std::string concession(const RuleInput& input) {
  const planner::Plan& plan = input.report.plan;
  const auto other = [&plan](const Check& check) { return check.id == plan.binding && !check.remedy.empty(); };
  if (std::any_of(plan.checks.begin(), plan.checks.end(), other)) return remedy(plan);
  planner::Question question = input.report.question;
  const std::int64_t all = models::expert_count(question.model);
  const bool lever =
      std::any_of(input.report.plan.levers.begin(), input.report.plan.levers.end(),
                  [](const planner::Lever& one) { return one.verdict == Verdict::fits && one.id != "more_gpus"; });
  if (lever || all == 0 || question.search.experts_fixed > 0) return remedy(input.report.plan);
  question.search.experts = true;
  const planner::Plan carved = planner::make_plan(question);
  if (carved.verdict != Verdict::fits || carved.experts >= all) return remedy(input.report.plan);
  return format("with {} of {} experts it fits: kvfit carve run --keep {}", carved.experts, all, carved.experts);
}

void failed_checks(const RuleInput& input, std::vector<Placed>& out) {
  const planner::Plan& plan = input.report.plan;
  for (const Check& check : plan.checks) {
    const std::string_view id = own_id(check.id);
    if (check.verdict == Verdict::does_not_fit && !id.empty()) {
      add_finding(out, id, check.text, own_hint(check), blamed(input, check.id)).subject = check.id;
    }
  }
  for (const Check& check : plan.checks) {
    if (check.id != plan.binding || check.verdict != Verdict::does_not_fit || !own_id(check.id).empty()) continue;
    add_finding(out, "KVF001", format("{} ({}{})", check.text, check.id, shortfall(check)), concession(input),
                blamed(input, check.id))
        .subject = check.id;
  }
}

void refusals(const RuleInput& input, std::vector<Placed>& out) {
  for (const hardware::Gate& gate : input.report.plan.gates) {
    if (gate.verdict != hardware::GateVerdict::refused) continue;
    const bool cache = gate.rule.starts_with("kv.");
    const Where where = cache                    ? place_of(input.deployment, {"kv-cache-dtype"})
                        : input.deployment.model ? input.deployment.model->where
                                                 : input.deployment.where;
    add_finding(out, "KVF003", format("{}: {}", gate.format, gate.reason),
                gate.policy ? format("--allow-fallback plans it ({})", gate.how) : format("rule {}", gate.rule), where);
  }
}

void headroom(const RuleInput& input, std::vector<Placed>& out) {
  const planner::Plan& plan = input.report.plan;
  if (input.margin.count <= 0 || (plan.verdict != Verdict::fits && plan.verdict != Verdict::tight)) return;
  const Check* least = least_headroom(plan);
  if (least == nullptr || least->margin() >= input.margin) return;
  add_finding(out, "KVF030", margin_shortfall(plan, input.margin), "", blamed(input, least->id)).subject = least->id;
}

}  // namespace

void verdict_rules(const RuleInput& input, std::vector<Placed>& out) {
  const planner::Plan& plan = input.report.plan;
  refusals(input, out);
  if (plan.verdict == Verdict::refused) return;
  if (plan.verdict == Verdict::unknown) {
    for (const planner::Finding& lacks : plan.findings) {
      if (lacks.id == "KVF000") add_finding(out, lacks.id, lacks.text, lacks.hint, blamed(input, "unknown"));
    }
    return;
  }
  failed_checks(input, out);
  if (plan.verdict == Verdict::tight) {
    add_finding(out, "KVF002", format("the error bar of {} reaches past the limit: it may fail", plan.binding), remedy(plan),
                blamed(input, plan.binding));
  }
  headroom(input, out);
}

}  // namespace kvfit::cli
