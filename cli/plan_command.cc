// kvfit plan
#include <optional>
#include <string>
#include <string_view>

#include "cli/carve_job.h"
#include "cli/catalog_access.h"
#include "cli/commands.h"
#include "cli/findings.h"
#include "cli/make_report.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/serving_flags.h"
#include "cli/words.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

// --margin: a yes with less headroom than that is an error of the policy, and the answer is no.
bool breaks_margin(const Args& args, Report& report) {
  const profiles::Bytes margin = margin_from(args, hardware::total_memory(report.question.node).likely);
  const std::string text = margin_shortfall(report.plan, margin);
  if (exit_code(report.plan.verdict) != kYes || text.empty()) return false;
  report.plan.findings.push_back({"KVF030", planner::Finding::Level::error, text, "leave more room, or lower --margin"});
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
  Report report = make_report(args, catalog, process_environment());
  const int code = breaks_margin(args, report) ? kNo : exit_code(report.plan.verdict);
  deliver(args, console, "table|json|yaml|markdown", args.text("format").value_or("table"),
          [&report](std::string_view form, const Screen& screen) { return rendering(report, form, screen); });
  if (const std::optional<std::string> to = args.text("carve-to"); to && code == kYes) {
    carve_planned(args, console, report.plan.experts, models::expert_count(report.question.model), *to);
  }
  return args.toggle("exit-zero").value_or(false) ? kYes : code;
}

}  // namespace kvfit::cli
