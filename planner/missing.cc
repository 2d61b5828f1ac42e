#include "planner/missing.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/online_quantization.h"
#include "planner/traits.h"
#include "profiles/text.h"

namespace kvfit::planner {
namespace {

using profiles::format;

void missing(std::string text, std::string hint, std::vector<Finding>& out) {
  out.push_back({"KVF000", Finding::Level::error, std::move(text), std::move(hint)});
}

// Methods that propose tokens without weights of their own say so in the engine's profile (table speculative).
void missing_drafter(const Question& question, const Traits& traits, std::vector<Finding>& out) {
  const std::optional<Speculative>& speculative = question.serving.speculative;
  if (!speculative || speculative->tokens == 0 || speculative->draft || question.model.draft) return;
  const Row* row = question.rules->find("speculative", traits);
  if (row != nullptr && row->is("draft_layers", "no")) return;
  missing(format("the drafter's layers are not known: its weights and its cache for '{}' cannot be counted",
                 speculative->method),
          R"(name a checkpoint whose config.json is at hand: --speculative-config '{"model": "DIRECTORY", ...}')", out);
}

void missing_release(const Question& question, const Traits& traits, std::vector<Finding>& out) {
  const Row* row = question.rules->find("accounting", traits);
  const Version& version = question.rules->version();
  if (row == nullptr || !version.known || !row->is("known", "no")) return;
  missing(
      format("{} {} is too far beyond the releases whose accounting was compared", question.rules->engine(), version.text),
      "take a release that kvfit knows, or a boot log: kvfit calibrate", out);
}

void missing_total(const Question& question, std::vector<Finding>& out) {
  if (hardware::total_memory(question.node).likely.count > 0) return;
  missing(format("the memory of {} is not known", question.node.gpu.name), "give a hardware profile with cuda_total_linux",
          out);
}

void missing_quantization(const Question& question, std::vector<Finding>& out) {
  if (!quantisation_unknown(question)) return;
  missing(format("what --quantization {} makes of plain weights is not known", question.serving.quantization),
          "name a checkpoint that is stored so", out);
}

Question without_drafter(Question question) {
  question.serving.speculative.reset();
  return question;
}

// A yes becomes unknown; a no stays.
bool unsettle(Verdict& verdict) {
  const bool yes = verdict == Verdict::fits || verdict == Verdict::tight;
  if (yes) verdict = Verdict::unknown;
  return yes;
}

}  // namespace

std::vector<Finding> missing_facts(const Question& question) {
  std::vector<Finding> out;
  const Traits traits = stated_traits(question);
  missing_drafter(question, traits, out);
  missing_release(question, traits, out);
  missing_total(question, out);
  missing_quantization(question, out);
  return out;
}

void apply_missing(const Question& question, Plan& plan) {
  std::vector<Finding> facts = missing_facts(question);
  if (facts.empty()) return;
  if (unsettle(plan.verdict)) {
    plan.binding = "missing_facts";
    plan.highest_safe_utilization.reset();
  }
  for (Rung& rung : plan.ladder) unsettle(rung.verdict);
  // Without speculation nothing is asked of the drafter.
  const bool only_drafter = missing_facts(without_drafter(question)).empty();
  for (Lever& lever : plan.levers) {
    if (lever.id != "mtp_off" || !only_drafter) unsettle(lever.verdict);
  }
  for (Finding& fact : facts) plan.findings.push_back(std::move(fact));
}

}  // namespace kvfit::planner
