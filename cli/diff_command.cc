// kvfit diff BEFORE AFTER
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/model_source.h"
#include "cli/output.h"
#include "cli/plan_diff.h"
#include "cli/report.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

profiles::Node open_plan(const std::string& path) {
  return profiles::parse_json(read_text(path), path == "-" ? "<stdin>" : path);
}

std::string rendering(const PlanDiff& diff, std::string_view form, const Screen& screen) {
  if (form == "json") return json_text(diff_json(diff));
  if (form == "yaml") return yaml_text(diff_json(diff));
  if (form == "markdown") return diff_markdown(diff);
  return diff_table(diff, screen);
}

}  // namespace

int diff_command(const Args& args, const Console& console) {
  if (args.words.size() != 2) {
    profiles::fail_input(profiles::format("kvfit diff takes two plans, not {}", args.words.size()), {},
                         "see kvfit diff --help");
  }
  const PlanDiff diff = diff_plans(open_plan(args.words[0]), args.words[0], open_plan(args.words[1]), args.words[1]);
  deliver(args, console, "table|json|yaml|markdown", args.text("format").value_or("table"),
          [&diff](std::string_view form, const Screen& screen) { return rendering(diff, form, screen); });
  const bool same = diff.changes.empty() && diff.before_verdict == diff.after_verdict;
  return same || args.toggle("exit-zero").value_or(false) ? kYes : kNo;
}

}  // namespace kvfit::cli
