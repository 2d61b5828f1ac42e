// kvfit diff BEFORE AFTER
#include <optional>
#include <string>
#include <string_view>

#include "cli/catalog_access.h"
#include "cli/commands.h"
#include "cli/deployment_source.h"
#include "cli/model_source.h"
#include "cli/output.h"
#include "cli/plan_diff.h"
#include "cli/report.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

bool is_saved_plan(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

// A saved plan as it is; a deployment is planned, and compared by the plan's machine form.
profiles::Node open_side(const std::string& path, const Answerer& answerer, const std::optional<std::string>& only) {
  const std::string name = path == "-" ? "<stdin>" : path;
  if (path == "-") return profiles::parse_json(read_text(path), name);
  std::string text = read_text(path);
  if (is_saved_plan(text)) return profiles::parse_json(std::move(text), name);
  const CheckCase one = answer_file(path, answerer, only);
  return profiles::parse_json(json_text(json_value(*one.report)), name);
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
    profiles::fail_input(profiles::format("kvfit diff takes two plans or deployments, not {}", args.words.size()), {},
                         "see kvfit diff --help");
  }
  const profiles::Catalog catalog = open_catalog(args, process_environment());
  const ProjectConfig config = open_project_config(args);
  const Answerer answerer(args, config, catalog, process_environment());
  const std::optional<std::string> only = args.text("only");
  const profiles::Node before = open_side(args.words[0], answerer, only);
  const PlanDiff diff = diff_plans(before, args.words[0], open_side(args.words[1], answerer, only), args.words[1]);
  deliver(args, console, "table|json|yaml|markdown", args.text("format").value_or("table"),
          [&diff](std::string_view form, const Screen& screen) { return rendering(diff, form, screen); });
  const bool same = diff.changes.empty() && diff.before_verdict == diff.after_verdict;
  return same || args.toggle("exit-zero").value_or(false) ? kYes : kNo;
}

}  // namespace kvfit::cli
