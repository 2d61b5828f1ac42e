// kvfit emit
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/catalog_access.h"
#include "cli/commands.h"
#include "cli/emit_header.h"
#include "cli/make_report.h"
#include "cli/output.h"
#include "cli/words.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "runtime/emit.h"

namespace kvfit::cli {
namespace {

using profiles::fail_input;
using profiles::format;

runtime::UnitWishes wishes_from(const Args& args) {
  runtime::UnitWishes out;
  out.name = args.text("name").value_or("");
  out.image = args.text("image").value_or("");
  out.program = args.text("program").value_or("/opt/vllm/bin/vllm");
  out.gguf = args.text("gguf").value_or("");
  out.port = static_cast<int>(args.integer("port").value_or(0));
  out.read_rate = args.size("read-rate").value_or(profiles::Bytes(0));
  if (!out.program.starts_with('/') || out.program.find("/bin/") == std::string::npos) {
    fail_input(format("--program wants an absolute path to vllm in a bin directory, not '{}'", out.program));
  }
  return out;
}

// Only files that can hold several machines are given several; a stage for each is how pipelines are spread.
std::int64_t nodes_of(const Args& args, const Report& report, const runtime::EmitTarget& target) {
  const std::optional<std::int64_t> stated = args.integer("nodes");
  if (stated && *stated > 1 && !target.several_nodes) {
    fail_input(format("{} describes one machine, --nodes says {}", target.name, *stated), {},
               "--to leaderworkerset or --to ray describe several");
  }
  if (stated || !target.several_nodes) return stated.value_or(1);
  return report.question.serving.pipeline_parallel_size;
}

std::string rendering(const Args& args, const Report& report, const profiles::Catalog& catalog, std::string_view name) {
  const runtime::EmitTarget& target = *runtime::find_target(name);
  const runtime::ServingFacts facts = runtime::read_serving_facts(catalog.load(catalog.resolve("serving", report.engine)));
  runtime::UnitWishes wishes = wishes_from(args);
  wishes.nodes = nodes_of(args, report, target);
  wishes.model_is_directory = report.model_is_directory;
  runtime::ServingUnit unit =
      runtime::make_unit(report.question, report.plan, *report.serve, report.engine_version, facts, wishes);
  if (!target.engine.empty()) {
    unit.other = runtime::read_other_engine(catalog.load(catalog.resolve("serving", target.engine)));
  }
  unit.header = emit_header(report, unit, facts, args, target.name);
  if (unit.nodes > 1) unit.ranks = rank_lines(report);
  return target.write(unit);
}

}  // namespace

int emit_command(const Args& args, const Console& console) {
  refuse_words(args);
  const profiles::Catalog catalog = open_catalog(args, process_environment());
  Report report = make_report(args, catalog, process_environment());
  const int code = exit_code(report.plan.verdict);
  if (code != kYes) {
    const bool force = args.toggle("force").value_or(false) && report.plan.settings.max_model_len > 0;
    console.complain(format("{}: {}\n", force ? "written by --force" : "not written", headline(report)));
    if (!force) return code;
    report.serve = runtime::serve_command(report.question, report.plan);
  }
  deliver(args, console, runtime::target_names(), args.text("to").value_or("command"),
          [&](std::string_view name, const Screen&) { return rendering(args, report, catalog, name); });
  return code;
}

}  // namespace kvfit::cli
