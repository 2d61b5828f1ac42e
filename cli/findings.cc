#include "cli/findings.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/words.h"
#include "models/quantization.h"
#include "planner/gates.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {
namespace {

using planner::Finding;
using planner::Plan;
using planner::Verdict;
using profiles::format;

std::string failure(const Plan& plan) {
  for (const planner::Check& check : plan.checks) {
    if (check.id != plan.binding) continue;
    if (!check.remedy.empty()) return check.text;
    return format(
        "{}: {} decides",
        check.kind == planner::Check::Kind::boot ? "the engine does not start" : "the engine runs out of memory under load",
        check.id);
  }
  return format("the plan does not fit: {} decides", plan.binding);
}

void verdict_finding(const Plan& plan, std::vector<Finding>& out) {
  if (plan.verdict == Verdict::does_not_fit) {
    out.push_back({"KVF001", Finding::Level::error, failure(plan), remedy(plan)});
  } else if (plan.verdict == Verdict::tight) {
    out.push_back({"KVF002", Finding::Level::warning,
                   format("the error bar of {} reaches past the limit: it may fail", plan.binding), remedy(plan)});
  } else if (plan.verdict == Verdict::refused) {
    out.push_back({"KVF003", Finding::Level::error, "this hardware must not run this format", "see Formats"});
  }
}

void utilisation_finding(const Plan& plan, std::vector<Finding>& out) {
  const bool over =
      plan.highest_safe_utilization && *plan.highest_safe_utilization < plan.settings.gpu_memory_utilization - 0.0005;
  if (!over || plan.verdict == Verdict::refused) return;
  out.push_back({"KVF008", Finding::Level::warning,
                 format("utilisation {:.4g} is above what stays safe under load", plan.settings.gpu_memory_utilization),
                 format("--util {:.3f} is the highest that fits", *plan.highest_safe_utilization)});
}

void checkpoint_finding(const Report& report, std::vector<Finding>& out) {
  const std::string text = checkpoint_disagrees(report);
  if (!text.empty()) out.push_back({"KVF034", Finding::Level::warning, text, "kvfit models inspect shows all of them"});
}

void backend_finding(const Report& report, std::vector<Finding>& out) {
  if (report.question.serving.moe_backend != "triton") return;
  for (const std::string& name : planner::weight_formats(report.question.model.quantization)) {
    if (!name.starts_with("nvfp4")) continue;
    out.push_back({"KVF009", Finding::Level::warning, "the Triton expert kernels do not take NVFP4 experts",
                   "leave --moe-backend on auto, or take cutlass or flashinfer"});
    return;
  }
}

}  // namespace

std::string remedy(const Plan& plan) {
  for (const planner::Check& check : plan.checks) {
    if (check.id == plan.binding && !check.remedy.empty()) return check.remedy;
  }
  const planner::Lever* least = nullptr;
  for (const planner::Lever& lever : plan.levers) {
    if (lever.verdict == Verdict::fits && (least == nullptr || lever.frees < least->frees)) least = &lever;
  }
  if (least != nullptr) return format("the smallest single concession that fits: {} ({})", least->text, least->id);
  const bool rung = std::any_of(plan.ladder.begin(), plan.ladder.end(),
                                [](const planner::Rung& one) { return one.verdict == Verdict::fits; });
  if (rung) return "no single concession is enough: take a rung of the ladder that fits";
  return plan.levers.empty() ? ""
                             : "nothing listed is enough alone: combine some, or take a smaller or further quantised model";
}

std::string checkpoint_disagrees(const Report& report) {
  if (report.differences.empty()) return "";
  return format("the checkpoint's headers are not what its config implies, it may be incomplete: {}",
                profiles::join(report.differences, "; "));
}

const planner::Check* least_headroom(const Plan& plan) {
  const planner::Check* least = nullptr;
  for (const planner::Check& check : plan.checks) {
    if (!check.need_count && (least == nullptr || check.margin() < least->margin())) least = &check;
  }
  return least;
}

std::string margin_shortfall(const Plan& plan, profiles::Bytes margin) {
  const planner::Check* least = least_headroom(plan);
  if (least == nullptr || least->margin() >= margin) return "";
  return format("{} has {} GiB to spare, the margin is {} GiB", least->id, gib(least->margin()), gib(margin));
}

std::vector<Finding> findings_of(const Report& report) {
  std::vector<Finding> out;
  verdict_finding(report.plan, out);
  utilisation_finding(report.plan, out);
  backend_finding(report, out);
  checkpoint_finding(report, out);
  return out;
}

std::vector<std::string> taken_for_granted(const Report& report) {
  std::vector<std::string> out;
  if (report.question.model.quantised_while_loading) {
    const std::string& method = report.question.serving.quantization;
    out.push_back(
        format("--quantization {}: sizes are those after the cast; a checkpoint on disk may be larger, and the peak "
               "while loading is not computed",
               method));
  }
  const hardware::Gpu& gpu = report.question.node.gpu;
  const std::string& measured = report.question.node.measured_from;
  if (!measured.empty()) out.push_back(format("memory of this machine: read from {}", measured));
  const bool wsl = report.question.node.system == hardware::System::wsl2 && gpu.cuda_total_wsl2.has_value();
  const hardware::Fact<hardware::ByteRange>& total = wsl ? *gpu.cuda_total_wsl2 : gpu.cuda_total_linux;
  if (!total.sourced)
    out.push_back(format("memory of {}: no reading was found, {} GiB is assumed", gpu.name, gib(total.value.likely)));
  for (const std::string& text : report.question.model.missing) out.push_back(format("model: {}", text));
  if (report.plan.settings.max_model_len > 0 && !report.plan.settings.runner_sure) {
    out.push_back("which model runner this version chooses for this model is not certain: bars are wider");
  }
  return out;
}

}  // namespace kvfit::cli
