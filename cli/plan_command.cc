// kvfit plan
#include <optional>
#include <string>
#include <string_view>

#include "cli/carve_job.h"
#include "cli/catalog_access.h"
#include "cli/commands.h"
#include "cli/make_report.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/serving_flags.h"
#include "cli/words.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

// --margin: the smallest headroom over all checks that count bytes must reach it, else the answer is no.
bool keeps_margin(const planner::Plan& plan, profiles::Bytes margin) {
  for (const planner::Check& check : plan.checks) {
    if (!check.need_count && check.margin() < margin) return false;
  }
  return true;
}

std::string rendering(const Report& report, std::string_view form, const Screen& screen) {
  if (form == "json") return json_text(json_value(report));
  if (form == "yaml") return yaml_text(json_value(report));
  if (form == "markdown") return markdown_text(report);
  return table_text(report, screen);
}

}  // namespace

int exit_code(planner::Verdict verdict) {
  switch (verdict) {
    case planner::Verdict::fits:
    case planner::Verdict::tight:
      return kYes;
    case planner::Verdict::does_not_fit:
      return kNo;
    case planner::Verdict::refused:
      return kRefused;
    case planner::Verdict::unknown:
      return kNoAnswer;
  }
  return kNoAnswer;
}

int plan_command(const Args& args, const Console& console) {
  refuse_words(args);
  const profiles::Catalog catalog = open_catalog(args, process_environment());
  const Report report = make_report(args, catalog, process_environment());
  deliver(args, console, "table|json|yaml|markdown", args.text("format").value_or("table"),
          [&report](std::string_view form, const Screen& screen) { return rendering(report, form, screen); });
  int code = exit_code(report.plan.verdict);
  const profiles::Bytes margin = margin_from(args, hardware::total_memory(report.question.node).likely);
  if (code == kYes && !keeps_margin(report.plan, margin)) {
    console.note(profiles::format("the headroom is below --margin {}", args.text("margin").value_or("")));
    code = kNo;
  }
  if (const std::optional<std::string> to = args.text("carve-to"); to && code == kYes) {
    carve_planned(args, console, report.plan.experts, models::expert_count(report.question.model), *to);
  }
  return args.toggle("exit-zero").value_or(false) ? kYes : code;
}

}  // namespace kvfit::cli
