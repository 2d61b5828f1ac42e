// kvfit emit [FILE] [-- vllm serve ...]
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/catalog_access.h"
#include "cli/commands.h"
#include "cli/deployment_source.h"
#include "cli/emit_header.h"
#include "cli/make_report.h"
#include "cli/output.h"
#include "cli/words.h"
#include "profiles/error.h"
#include "profiles/quantity.h"
#include "profiles/text.h"
#include "runtime/emit.h"
#include "runtime/flag_table.h"

namespace kvfit::cli {
namespace {

using profiles::fail_input;
using profiles::format;

// What is written about: a plan, and how a deployment that it was read from is started.
struct Subject {
  Report report;
  std::string image;       ///< of the deployment; empty = the release's own
  std::int64_t nodes = 0;  ///< machines of the deployment; 0 = not stated
};

runtime::UnitWishes wishes_from(const Args& args, const Subject& subject) {
  runtime::UnitWishes out;
  out.name = args.text("name").value_or("");
  out.image = args.text("image").value_or(subject.image);
  out.program = args.text("program").value_or("/opt/vllm/bin/vllm");
  out.gguf = args.text("gguf").value_or("");
  out.port = static_cast<int>(args.integer("port").value_or(0));
  out.read_rate = args.size("read-rate").value_or(profiles::Bytes(0));
  out.model_is_directory = subject.report.model_is_directory;
  if (!out.program.starts_with('/') || out.program.find("/bin/") == std::string::npos) {
    fail_input(format("--program wants an absolute path to vllm in a bin directory, not '{}'", out.program));
  }
  return out;
}

// Only files that can hold several machines are given several; a stage for each is how pipelines are spread.
std::int64_t nodes_of(const Args& args, const Subject& subject, const runtime::EmitTarget& target) {
  const std::optional<std::int64_t> stated = args.integer("nodes");
  if (stated && *stated > 1 && !target.several_nodes) {
    fail_input(format("{} describes one machine, --nodes says {}", target.name, *stated), {},
               "--to leaderworkerset or --to ray describe several");
  }
  if (stated || !target.several_nodes) return stated.value_or(1);
  return subject.nodes > 1 ? subject.nodes : subject.report.question.serving.pipeline_parallel_size;
}

// A flag that the engine's release does not know keeps it from starting.
void check_flags(const runtime::ServeCommand& command, const runtime::FlagTable& table, const Report& report) {
  const planner::Version version = planner::parse_version(report.engine_version);
  for (const runtime::ServeFlag& flag : command.flags) {
    const runtime::FoundFlag found = table.find(flag.name, version);
    if (found.flag == nullptr) {
      fail_input(format("{} {} has no flag {}", report.engine, report.engine_version, flag.name), {},
                 table.suggestion(flag.name, version));
    }
    if (!found.in_version) {
      const std::string& since = found.flag->since;
      fail_input(format("{} {} does not know {}", report.engine, report.engine_version, flag.name), {},
                 found.flag->instead.empty() ? format("it is known from {} on", since.empty() ? "an earlier release" : since)
                                             : format("since {}: {}", found.flag->until, found.flag->instead));
    }
  }
}

std::vector<std::string> list_flags(const runtime::FlagTable& table) {
  std::vector<std::string> out;
  for (const runtime::EngineFlag& flag : table.all()) {
    if (flag.kind == runtime::FlagKind::list) out.push_back("--" + flag.name);
  }
  return out;
}

std::string rendering(const Args& args, const Subject& subject, const profiles::Catalog& catalog, std::string_view name) {
  const Report& report = subject.report;
  const runtime::EmitTarget& target = *runtime::find_target(name);
  const runtime::FlagTable table(catalog.load(catalog.resolve("flags", report.engine)));
  const runtime::ServingFacts facts = runtime::read_serving_facts(catalog.load(catalog.resolve("serving", report.engine)));
  runtime::UnitWishes wishes = wishes_from(args, subject);
  wishes.nodes = nodes_of(args, subject, target);
  wishes.lists = list_flags(table);
  if (target.engine.empty()) check_flags(*report.serve, table, report);
  runtime::ServingUnit unit =
      runtime::make_unit(report.question, report.plan, *report.serve, report.engine_version, facts, wishes);
  if (unit.nodes > 1 && target.name == "leaderworkerset" &&
      compare(planner::parse_version(report.engine_version), facts.nodes_since) < 0) {
    fail_input(format("{} {} spans machines by Ray only", report.engine, report.engine_version), {},
               "--to ray, or plan for a newer release");
  }
  if (!target.engine.empty()) {
    unit.other = runtime::read_other_engine(catalog.load(catalog.resolve("serving", target.engine)));
  }
  unit.header = emit_header(report, unit, facts, args, target.name);
  if (unit.nodes > 1) unit.ranks = rank_lines(report);
  return target.write(unit);
}

bool is_pinned(const std::string& image) {
  const std::size_t mark = image.find_first_of(":@", image.rfind('/') == std::string::npos ? 0 : image.rfind('/'));
  return mark != std::string::npos && !image.ends_with(":latest") && image.find('$') == std::string::npos;
}

// What the engine would refuse is not written again; what its reader drops is not in the call.
void judge_remarks(const runtime::Deployment& deployment, const Console& console) {
  for (const runtime::Remark& remark : deployment.remarks) {
    if (remark.kind == runtime::Remark::Kind::unknown_flag || remark.kind == runtime::Remark::Kind::stray_word) {
      fail_input(remark.text, remark.where, remark.hint);
    }
    const bool told = remark.kind == runtime::Remark::Kind::other_version ||  // check_flags
                      remark.kind == runtime::Remark::Kind::model_as_flag;    // it stands right after `serve` now
    if (!told) console.note(remark.text);
  }
}

// "32K" is read by the command line's parser only: 32768 by every other reader too.
void plain_counts(const runtime::FlagTable& table, runtime::ServeCommand& command) {
  for (runtime::ServeFlag& flag : command.flags) {
    const runtime::EngineFlag* known = table.named(flag.name.substr(2));
    const bool tokens =
        known != nullptr && (known->kind == runtime::FlagKind::tokens || known->kind == runtime::FlagKind::tokens_or_auto);
    const std::optional<std::int64_t> count = tokens ? profiles::read_count(flag.value) : std::nullopt;
    if (count) flag.value = std::to_string(*count);
  }
}

// A deployment keeps every flag it states; a saved plan is asked again.
Subject subject_of_deployment(const Args& args, const Console& console, const profiles::Catalog& catalog) {
  if (args.words.size() + (args.trailing.empty() ? 0U : 1U) > 1) {
    fail_input("one deployment at a time", {}, "see kvfit emit --help");
  }
  refuse_serving_flags(args);
  const ProjectConfig config = open_project_config(args);
  const Answerer answerer(args, config, catalog, process_environment());
  CheckCase one = args.words.empty() ? answer_words(args.trailing, answerer)
                                     : answer_file(args.words.front(), answerer, args.text("only"));
  Subject out{.report = std::move(*one.report), .image = {}, .nodes = one.deployment.nodes};
  judge_remarks(one.deployment, console);
  runtime::ServeCommand command = runtime::serve_command(one.deployment);
  plain_counts(answerer.flags(), command);
  if (one.deployment.kind == "plan") command.model = runtime::serve_command(out.report.question, out.report.plan).model;
  out.report.model_is_directory = command.model.starts_with('.') || command.model.starts_with('/');
  out.report.serve = std::move(command);
  if (one.deployment.image && is_pinned(one.deployment.image->text)) out.image = one.deployment.image->text;
  if (const runtime::ServeArgument* nodes = runtime::argument(one.deployment, "nnodes")) {
    out.nodes = std::max<std::int64_t>(1, profiles::read_count(nodes->value).value_or(1));
  }
  return out;
}

// `kvfit check` and others tell a file's kind by its ending.
void remark_endings(const Args& args, const Console& console) {
  for (const std::string& text : args.texts("output")) {
    const std::size_t equals = text.find('=');
    const runtime::EmitTarget* pair = runtime::find_target(text.substr(0, equals));
    const bool main = equals == std::string::npos || pair == nullptr;
    const runtime::EmitTarget& target = main ? *runtime::find_target(args.text("to").value_or("command")) : *pair;
    const std::string path = main ? text : text.substr(equals + 1);
    const std::string ending = std::filesystem::path(path).extension().string();
    const bool known = std::ranges::any_of(
        runtime::emit_targets(), [&](const runtime::EmitTarget& one) { return ending == one.ending || ending == ".yml"; });
    if (!known || ending == target.ending || (ending == ".yml" && target.ending == ".yaml")) continue;
    console.note(format("{} is read as {} by its ending; {} writes {} files", path, ending, target.name, target.ending));
  }
}

}  // namespace

int emit_command(const Args& args, const Console& console) {
  const profiles::Catalog catalog = open_catalog(args, process_environment());
  const bool read = !args.words.empty() || !args.trailing.empty();
  Subject subject = read ? subject_of_deployment(args, console, catalog)
                         : Subject{.report = make_report(args, catalog, process_environment()), .image = {}, .nodes = 0};
  Report& report = subject.report;
  const int code = exit_code(report.plan.verdict);
  if (code != kYes) {
    const bool force = args.toggle("force").value_or(false) && report.plan.settings.max_model_len > 0;
    console.complain(format("{}: {}\n", force ? "written by --force" : "not written", headline(report)));
    if (!force) return code;
    if (!report.serve) report.serve = runtime::serve_command(report.question, report.plan);
  }
  deliver(args, console, runtime::target_names(), args.text("to").value_or("command"),
          [&](std::string_view name, const Screen&) { return rendering(args, subject, catalog, name); },
          {.main_always = args.has("to"), .inputs = {}});
  remark_endings(args, console);
  return code;
}

}  // namespace kvfit::cli
