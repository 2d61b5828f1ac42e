#include "cli/make_report.h"

#include <utility>

#include "cli/published.h"
#include "cli/question_builder.h"
#include "planner/search.h"
#include "runtime/serve_command.h"

namespace kvfit::cli {

Report make_report(const Args& args, const profiles::Catalog& catalog, const Environment& environment) {
  BuiltQuestion built = build_question(args, catalog, environment);
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
  return out;
}

}  // namespace kvfit::cli
