// Checks, ladder, levers, formats and findings: what decides, and why.
#include <string>
#include <utility>
#include <vector>

#include "cli/explain.h"
#include "cli/words.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {
namespace {

using profiles::format;
using profiles::grouped;

Explanation check_item(const planner::Check& check) {
  Explanation out{.key = "check." + check.id,
                  .meaning = check.kind == planner::Check::Kind::boot ? "must hold for the engine to start"
                                                                      : "must hold for the engine to stay up under load",
                  .value = std::string(verdict_word(check.verdict)),
                  .formula = "margin = have - need; OK when the margin is above its bar, TIGHT within it, NO below zero"};
  if (check.need_count && check.have_count) {
    out.worked = {format("{} - {} = {}", grouped(*check.have_count), grouped(*check.need_count),
                         grouped(*check.have_count - *check.need_count))};
  } else {
    out.worked = {format("{} - {} = {} GiB, bar ±{} GiB", gib(check.have), gib(check.need), signed_gib(check.margin()),
                         gib(check.error))};
  }
  if (check.verdict == planner::Verdict::does_not_fit) {
    out.worked.push_back(check.certain ? "certain: the bar does not reach a fit" : "the bar reaches a fit: it may start");
  }
  if (!check.text.empty()) out.worked.push_back(check.text);
  return out;
}

Explanation verdict_item(const planner::Plan& plan) {
  Explanation out{.key = "verdict",
                  .meaning = "the worst verdict of all checks",
                  .value = std::string(verdict_word(plan.verdict)),
                  .formula = "refused > does not fit > tight > fits"};
  for (const planner::Check& check : plan.checks) {
    out.worked.push_back(
        format("{}: {}{}", check.id, verdict_word(check.verdict), check.id == plan.binding ? ", decides" : ""));
  }
  return out;
}

Explanation utilisation_item(double highest) {
  return {.key = "highest_safe_utilization",
          .meaning = "largest utilisation at which every check still holds with its bar",
          .value = format("{:.3f}", highest),
          .formula = "by bisection in steps of 0.001: start checks gain from more, the load check loses",
          .provenance = "derived",
          .source = "the checks of this plan"};
}

Explanation rung_item(const planner::Rung& rung) {
  Explanation out{.key = format("ladder.{}", rung.experts > 0 ? rung.experts : rung.max_model_len),
                  .meaning = rung.experts > 0
                                 ? format("{} routed experts a layer: the largest context that fits", rung.experts)
                                 : format("{} tokens of context", grouped(rung.max_model_len)),
                  .value = std::string(verdict_word(rung.verdict))};
  out.worked = {format("{} tokens, {} sequences; {} has {} GiB", grouped(rung.max_model_len), grouped(rung.max_num_seqs),
                       rung.binding, with_bar(rung.margin, rung.error))};
  if (rung.checkpoint.count > 0) out.worked.push_back(format("checkpoint on disk {}", bytes_text(rung.checkpoint)));
  if (!rung.remark.empty()) out.worked.push_back(rung.remark);
  return out;
}

Explanation lever_item(const planner::Lever& lever) {
  return {.key = "lever." + lever.id,
          .meaning = lever.text,
          .value = format("frees {} GiB, then {}", gib(lever.frees), verdict_word(lever.verdict)),
          .formula = "margin of the binding check with this lever alone - margin without it",
          .provenance = "derived",
          .source = "the checks of this plan, computed twice"};
}

Explanation gate_item(const hardware::Gate& gate) {
  Explanation out{.key = "format." + gate.format.substr(0, gate.format.find(' ')),
                  .meaning = gate.format,
                  .value = std::string(hardware::verdict_name(gate.verdict)),
                  .source = gate.source};
  if (!gate.reason.empty()) out.worked.push_back(gate.reason);
  if (!gate.how.empty()) out.worked.push_back("how: " + gate.how);
  if (!gate.rule.empty()) out.worked.push_back("rule " + gate.rule);
  if (gate.policy) out.worked.push_back("refused by kvfit's policy; --allow-fallback lifts it");
  return out;
}

}  // namespace

std::vector<Explanation> explain_decision(const Report& report) {
  const planner::Plan& plan = report.plan;
  std::vector<Explanation> out = {verdict_item(plan)};
  for (const planner::Check& check : plan.checks) out.push_back(check_item(check));
  if (plan.highest_safe_utilization) out.push_back(utilisation_item(*plan.highest_safe_utilization));
  for (const planner::Rung& rung : plan.ladder) out.push_back(rung_item(rung));
  for (const planner::Lever& lever : plan.levers) out.push_back(lever_item(lever));
  for (const hardware::Gate& gate : plan.gates) out.push_back(gate_item(gate));
  for (const planner::Finding& finding : plan.findings) {
    out.push_back({.key = finding.id, .meaning = finding.text, .worked = {finding.hint}});
  }
  return out;
}

}  // namespace kvfit::cli
