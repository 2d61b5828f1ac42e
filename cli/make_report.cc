#include "cli/make_report.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cli/findings.h"
#include "cli/published.h"
#include "cli/question_builder.h"
#include "cli/this_gpu.h"
#include "models/tensor_inventory.h"
#include "planner/search.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "runtime/correction_store.h"
#include "runtime/serve_command.h"

namespace kvfit::cli {

void use_corrections(BuiltQuestion& built) {
  built.question.corrections = runtime::find_corrections(runtime::default_correction_file(), correction_key(built));
  const std::size_t count = built.question.corrections.size();
  if (count == 0) return;
  built.defaults.push_back(profiles::format("{} correction{} kept from a boot on this machine (--corrections off: without)",
                                            count, count == 1 ? "" : "s"));
}

namespace {

// The flags of the plan. A GPU that was detected goes by its profile's id, so that the words mean the same elsewhere; a file
// stays a file.
std::vector<std::string> planning_words(const Args& args, const std::string& gpu) {
  std::vector<std::string> out = args.flag_words("plan");
  std::erase_if(out, [](const std::string& word) {
    return word.starts_with("--nvidia-smi=") || word.starts_with("--carve-to=") || word.starts_with("--margin=") ||
           word == "--exit-zero";
  });
  bool stated = false;
  for (std::string& word : out) {
    if (!word.starts_with("--gpu=")) continue;
    stated = true;
    if (names_this_gpu(word.substr(6))) word = "--gpu=" + gpu;
  }
  if (!stated) out.insert(out.begin(), "--gpu=" + gpu);
  return out;
}

}  // namespace

namespace {

// A log prints "0.24.0" where people say "0.24".
std::string three_parts(const std::string& version) {
  const bool plain = version.find_first_not_of("0123456789.") == std::string::npos;
  const std::ptrdiff_t dots = std::count(version.begin(), version.end(), '.');
  return plain && dots == 1 ? version + ".0" : version;
}

}  // namespace

runtime::CorrectionKey correction_key(const BuiltQuestion& built) {
  return {.gpu = built.question.node.gpu.id,
          .model = built.model_id.empty() ? built.question.model.id : built.model_id,
          .engine = built.engine,
          .engine_version = three_parts(built.engine_version),
          .tensor_parallel_size = built.question.serving.tensor_parallel_size};
}

void plan_again(Report& report) {
  report.plan = planner::make_plan(report.question);
  report.serve.reset();
  const bool runs = report.plan.verdict == planner::Verdict::fits || report.plan.verdict == planner::Verdict::tight;
  if (runs) report.serve = runtime::serve_command(report.question, report.plan);
  const bool whole = report.plan.experts == models::expert_count(report.question.model);
  report.model_is_directory = !whole || !report.model_directory.empty();
  if (runs && whole && !report.model_directory.empty()) report.serve->model = report.model_directory;
  for (planner::Finding& finding : findings_of(report)) report.plan.findings.push_back(std::move(finding));
  for (std::string& text : taken_for_granted(report)) report.plan.assumptions.push_back(std::move(text));
}

namespace {

// What the headers hold against what the config implies; nothing where no rule derives the tensors.
std::vector<std::string> checkpoint_differences(const planner::Question& question) {
  constexpr std::size_t kEnough = 2;
  if (!question.inventory || !question.inventory->exact) return {};
  try {
    return models::differences(models::derive_inventory(question.model), *question.inventory, kEnough);
  } catch (const profiles::Error&) {
    return {};
  }
}

}  // namespace

Report report_on(BuiltQuestion& built) {
  Report out;
  out.differences = checkpoint_differences(built.question);
  out.question = std::move(built.question);
  out.engine = std::move(built.engine);
  out.engine_version = std::move(built.engine_version);
  out.defaults = std::move(built.defaults);
  out.inputs = std::move(built.inputs);
  return out;
}

Report make_report(const Args& args, const profiles::Catalog& catalog, const Environment& environment, const Hints& hints) {
  BuiltQuestion built = build_question(args, catalog, environment, hints);
  if (args.text("corrections").value_or("on") == "on") use_corrections(built);
  Report out = report_on(built);
  out.arguments = planning_words(args, out.question.node.gpu.id);
  const hardware::Node& node = out.question.node;
  if (!built.model_id.empty()) out.published = find_published(catalog, built.model_id, node.gpu.id, node.count, out.inputs);
  out.model_directory = std::move(built.model_directory);
  plan_again(out);
  return out;
}

}  // namespace kvfit::cli
