// kvfit check [FILE|DIRECTORY...] [-- vllm serve ...]
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/catalog_access.h"
#include "cli/check_answer.h"
#include "cli/check_policy.h"
#include "cli/check_report.h"
#include "cli/check_rules.h"
#include "cli/check_targets.h"
#include "cli/commands.h"
#include "cli/deployment_source.h"
#include "cli/model_source.h"
#include "cli/output.h"
#include "cli/project_config.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/yaml_text.h"
#include "runtime/deployment_file.h"

namespace kvfit::cli {
namespace {

namespace fs = std::filesystem;
using profiles::format;

// Two branches of one script that differ in nothing a plan depends on are one deployment.
std::string likeness(const runtime::Deployment& deployment, const runtime::FlagTable& table) {
  std::string out = deployment.name.substr(0, deployment.name.find(", call ")) + "\n";
  if (deployment.name.starts_with("call ")) out = "\n";
  out += deployment.model ? deployment.model->text : "";
  for (const runtime::ServeArgument& one : deployment.arguments) {
    const runtime::EngineFlag* flag = table.named(one.name);
    if (flag != nullptr && flag->priced) out += format("\n{} {} {}", one.name, one.value, one.off);
  }
  return out;
}

class Checker {
 public:
  Checker(const Args& args, const ProjectConfig& config, const profiles::Catalog& catalog)
      : answerer_(args, config, catalog, process_environment()) {}

  void command_line(const std::vector<std::string>& words, CheckRun& run) const { take(command_line_calls(words), "", run); }

  void flags(CheckRun& run) const { run.cases.push_back(answerer_.answer_flags()); }

  void file(const Target& target, bool alone, CheckRun& run) const {
    const std::string name = target.path == "-" ? "<stdin>" : target.path;
    std::error_code error;
    if (target.found && fs::file_size(target.path, error) > static_cast<std::uintmax_t>(runtime::kLargestDeployment)) return;
    try {
      const std::string text = read_text(target.path);
      ++run.files;
      if (target.found && !runtime::may_hold_deployment(text)) return;
      const std::vector<runtime::ServeCall> calls =
          runtime::find_calls(text, name, {.flags = &answerer_.flags(), .read = files_beside(target.path)});
      if (calls.empty() && !target.found) no_deployment(name);
      take(calls, name, run);
    } catch (const profiles::Error& fault) {
      if (fault.fault() != profiles::Fault::input || alone) throw;
      unreadable(target, name, fault, run);
    }
  }

 private:
  void take(const std::vector<runtime::ServeCall>& calls, const std::string& file, CheckRun& run) const {
    std::set<std::string> seen;
    for (const runtime::ServeCall& call : calls) {
      runtime::CallContext context = answerer_.context_for(file);
      context.read = files_beside(file);
      runtime::Deployment deployment = runtime::read_call(call, context);
      if (!seen.insert(likeness(deployment, answerer_.flags())).second) continue;
      run.cases.push_back(answerer_.answer(std::move(deployment), file));
    }
  }

  // Of a directory, a template that is not YAML yet is passed over; anything else is a question without answer.
  void unreadable(const Target& target, const std::string& name, const profiles::Error& fault, CheckRun& run) const {
    const std::string text = target.found ? read_text(target.path) : "";
    if (target.found && text.find("{{") != std::string::npos) {
      run.skipped.push_back(format("{}: a template; check it as it is rendered", name));
      return;
    }
    CheckCase out;
    out.deployment.kind = "file";
    out.deployment.where = fault.where().file.empty() ? profiles::Where{.file = name} : fault.where();
    out.file = name;
    add_finding(out.findings, "KVF000", fault.message(), fault.hint(), out.deployment.where);
    run.cases.push_back(std::move(out));
  }

  Answerer answerer_;
};

std::string rendering(const CheckRun& run, std::string_view form, const Screen& screen) {
  if (form == "json") return json_text(check_json(run));
  if (form == "yaml") return profiles::yaml_text(check_json(run));
  if (form == "markdown") return check_markdown(run);
  if (form == "github") return check_github(run);
  if (form == "sarif") return json_text(check_sarif(run));
  if (form == "junit") return check_junit(run);
  return check_table(run, screen);
}

// A configuration file that a call names is judged with that call's flags, not once more without them.
void drop_named_configs(CheckRun& run) {
  std::set<std::string> named;
  for (const CheckCase& one : run.cases) {
    for (const std::string& path : one.deployment.config_files) named.insert(fs::path(path).lexically_normal().string());
  }
  std::erase_if(run.cases, [&named](const CheckCase& one) {
    return one.deployment.kind == "vllm config" && named.contains(fs::path(one.file).lexically_normal().string());
  });
}

// Files that hold a deployment; a report of an earlier run in the same directory is none.
std::vector<std::string> read_by(const CheckRun& run) {
  std::vector<std::string> out;
  for (const CheckCase& one : run.cases) out.push_back(one.file);
  return out;
}

}  // namespace

int check_command(const Args& args, const Console& console) {
  const Environment environment = process_environment();
  const profiles::Catalog catalog = open_catalog(args, environment);
  const ProjectConfig config = open_project_config(args);
  const Checker checker(args, config, catalog);
  CheckRun run;
  run.fail_on = args.text("fail-on").value_or(config.fail_on.value_or("error"));
  const std::vector<Target> targets = targets_of(args.words);
  for (const std::string& word : args.words) {
    if (word != "-" && fs::is_directory(word)) run.searched.push_back(word);
  }
  if (!targets.empty() || !args.trailing.empty() || !args.words.empty()) {
    refuse_serving_flags(args);
    const bool alone = targets.size() == 1 && args.trailing.empty() && !targets.front().found;
    for (const Target& target : targets) checker.file(target, alone, run);
    if (!args.trailing.empty()) checker.command_line(args.trailing, run);
  } else {
    checker.flags(run);
  }
  drop_named_configs(run);
  mark_fingerprints(config, run);
  if (const std::optional<std::string> path = args.text("baseline")) {
    apply_baseline(profiles::read_text_file(*path), *path, run);
  }
  apply_allowances(config, today(environment("SOURCE_DATE_EPOCH").value_or("")), run);
  for (const std::string& text : run.skipped) console.note(text);
  if (run.cases.empty()) {
    profiles::fail_input(format("no deployment of vLLM among {} files", run.files), {},
                         "a gate that reads nothing is no pass: name the files that hold them, or check their spelling");
  }
  deliver(args, console, "table|json|yaml|markdown|github|sarif|junit", args.text("format").value_or("table"),
          [&run](std::string_view form, const Screen& screen) { return rendering(run, form, screen); },
          {.inputs = read_by(run)});
  const int code = exit_code(run);
  return args.toggle("exit-zero").value_or(false) && code != kNoAnswer ? kYes : code;
}

}  // namespace kvfit::cli
