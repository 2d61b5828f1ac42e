#include "cli/make_report.h"

#include <string>
#include <utility>

#include "cli/findings.h"
#include "cli/published.h"
#include "cli/question_builder.h"
#include "planner/search.h"
#include "profiles/text.h"
#include "runtime/correction_store.h"
#include "runtime/serve_command.h"

namespace kvfit::cli {
namespace {

// What boots of this very configuration taught on this machine (kvfit calibrate --keep).
void use_corrections(BuiltQuestion& built) {
  built.question.corrections = runtime::find_corrections(runtime::default_correction_file(), correction_key(built));
  if (built.question.corrections.empty()) return;
  built.defaults.push_back(
      profiles::format("{} corrections kept from a boot on this machine (--corrections off leaves them out)",
                       built.question.corrections.size()));
}

}  // namespace

runtime::CorrectionKey correction_key(const BuiltQuestion& built) {
  return {.gpu = built.question.node.gpu.id,
          .model = built.model_id.empty() ? built.question.model.id : built.model_id,
          .engine = built.engine,
          .engine_version = built.engine_version,
          .tensor_parallel_size = built.question.serving.tensor_parallel_size};
}

Report make_report(const Args& args, const profiles::Catalog& catalog, const Environment& environment) {
  BuiltQuestion built = build_question(args, catalog, environment);
  if (args.text("corrections").value_or("on") == "on") use_corrections(built);
  Report out;
  out.plan = planner::make_plan(built.question);
  out.question = std::move(built.question);
  out.engine = std::move(built.engine);
  out.engine_version = std::move(built.engine_version);
  out.defaults = std::move(built.defaults);
  out.inputs = std::move(built.inputs);
  const hardware::Node& node = out.question.node;
  if (!built.model_id.empty()) out.published = find_published(catalog, built.model_id, node.gpu.id, node.count, out.inputs);
  const bool runs = out.plan.verdict == planner::Verdict::fits || out.plan.verdict == planner::Verdict::tight;
  if (runs) out.serve = runtime::serve_command(out.question, out.plan);
  const bool whole = out.plan.experts == models::expert_count(out.question.model);
  out.model_is_directory = !whole || !built.model_directory.empty();
  if (runs && whole && !built.model_directory.empty()) out.serve->model = built.model_directory;
  for (planner::Finding& finding : findings_of(out)) out.plan.findings.push_back(std::move(finding));
  for (std::string& text : taken_for_granted(out)) out.plan.assumptions.push_back(std::move(text));
  return out;
}

}  // namespace kvfit::cli
