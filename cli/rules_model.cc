// Findings about the checkpoint: its formats, experts and draft head.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/check_rules.h"
#include "cli/findings.h"
#include "planner/gates.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using profiles::format;
using runtime::place_of;

void triton_experts(const RuleInput& input, std::vector<Placed>& out) {
  if (input.report.question.serving.moe_backend != "triton") return;
  for (const std::string& name : planner::weight_formats(input.report.question.model.quantization)) {
    if (!name.starts_with("nvfp4")) continue;
    add_finding(out, "KVF009", "the Triton expert kernels do not take NVFP4 experts",
                "leave --moe-backend on auto, or take cutlass or flashinfer", place_of(input.deployment, {"moe-backend"}));
    return;
  }
}

void no_draft(const RuleInput& input, std::vector<Placed>& out) {
  if (input.missing_draft.empty()) return;
  add_finding(out, "KVF012", input.missing_draft, "name a draft checkpoint, or leave speculation out",
              place_of(input.deployment, {"speculative-config", "spec-method", "spec-tokens", "num-speculative-tokens"}));
}

// Experts of the trunk and of the draft head, by what is stored: rows of the routers.
struct Widths {
  std::int64_t trunk = 0, draft = 0;
};

Widths widths(const models::TensorInventory& inventory) {
  Widths out;
  for (const models::Tensor& tensor : inventory.tensors) {
    if (tensor.shape.size() != 2) continue;
    if (tensor.role == models::Role::router) out.trunk = tensor.shape.front();
    if (tensor.role == models::Role::draft && tensor.draft_role == models::Role::router) out.draft = tensor.shape.front();
  }
  return out;
}

void uncarved_draft(const RuleInput& input, std::vector<Placed>& out) {
  const planner::Question& question = input.report.question;
  if (!question.inventory || !question.inventory->exact) return;
  const Widths found = widths(*question.inventory);
  if (found.trunk <= 0 || found.draft <= 0 || found.trunk == found.draft) return;
  const bool used = question.serving.speculative && !question.serving.speculative->draft;
  add_finding(
      out, "KVF013", used ? planner::Finding::Level::error : planner::Finding::Level::warning,
      format("the draft head has {} experts, the model {}{}", found.draft, found.trunk, used ? ": it fails to load" : ""),
      "carve both: kvfit carve run --mtp carve",
      input.deployment.model ? input.deployment.model->where : input.deployment.where);
}

void headers_disagree(const RuleInput& input, std::vector<Placed>& out) {
  const std::string text = checkpoint_disagrees(input.report);
  if (text.empty()) return;
  add_finding(out, "KVF034", text, "kvfit models inspect shows all of them",
              input.deployment.model ? input.deployment.model->where : input.deployment.where);
}

void fallbacks(const RuleInput& input, std::vector<Placed>& out) {
  for (const hardware::Gate& gate : input.report.plan.gates) {
    if (gate.verdict != hardware::GateVerdict::fallback) continue;
    const bool cache = gate.rule.starts_with("kv.");
    add_finding(out, "KVF025", format("{}: {} ({})", gate.format, gate.reason, gate.how), "",
                cache                    ? place_of(input.deployment, {"kv-cache-dtype"})
                : input.deployment.model ? input.deployment.model->where
                                         : input.deployment.where);
  }
}

}  // namespace

void model_rules(const RuleInput& input, std::vector<Placed>& out) {
  triton_experts(input, out);
  no_draft(input, out);
  uncarved_draft(input, out);
  headers_disagree(input, out);
  fallbacks(input, out);
}

}  // namespace kvfit::cli
