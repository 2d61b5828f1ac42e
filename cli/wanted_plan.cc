#include "cli/wanted_plan.h"

#include <cstdint>
#include <string>
#include <vector>

#include "cli/make_report.h"
#include "cli/model_source.h"
#include "cli/saved_plan.h"
#include "cli/words.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using profiles::fail_input;
using profiles::format;

const planner::Ledger& rank_of(const std::vector<planner::Ledger>& ledgers, const Args& args) {
  const std::int64_t rank = args.integer("rank").value_or(0);
  for (const planner::Ledger& ledger : ledgers) {
    if (ledger.rank == rank) return ledger;
  }
  std::vector<int> known;
  for (const planner::Ledger& ledger : ledgers) known.push_back(ledger.rank);
  fail_input(format("this plan has no ledger of rank {}", rank), {},
             format("it has those of rank {}; GPUs of one stage are alike", profiles::join(known, ", ")));
}

WantedPlan saved(const Args& args, const profiles::Catalog& catalog) {
  if (args.words.size() > 1) fail_input("one plan at a time", {}, "see kvfit boot --help");
  for (const std::string& word : args.flag_words("plan")) {
    if (word.starts_with("--engine=")) continue;  // asks for the engine to be started
    fail_input(format("{} belongs to the plan, which is saved", word.substr(0, word.find('='))), {},
               "leave it out, or leave the file out and give the flags of kvfit plan");
  }
  const std::string& path = args.words.front();
  const SavedPlan plan = read_saved_plan(profiles::parse_json(read_text(path), path == "-" ? "<stdin>" : path));
  std::vector<std::string> words = {"plan"};
  words.insert(words.end(), plan.arguments.begin(), plan.arguments.end());
  for (const std::string& directory : args.texts("profiles")) words.push_back("--profiles=" + directory);
  WantedPlan out{.report = make_report(parse_args(words), catalog, process_environment())};
  planner::Plan& remade = out.report.plan;
  remade.settings.max_model_len = plan.max_model_len;
  remade.settings.max_num_seqs = plan.max_num_seqs;
  remade.experts = plan.planned_experts;
  out.ledger = rank_of(plan.ledgers, args);
  out.utilization = plan.utilization;
  return out;
}

WantedPlan planned(const Args& args, const profiles::Catalog& catalog) {
  WantedPlan out{.report = make_report(args, catalog, process_environment(), {.gpu = "auto"})};
  if (out.report.plan.ledgers.empty())
    fail_input("this plan holds no ledger to try", {}, "see kvfit plan with the same flags");
  out.ledger = rank_of(out.report.plan.ledgers, args);
  out.utilization = out.report.plan.settings.gpu_memory_utilization;
  return out;
}

}  // namespace

WantedPlan wanted_plan(const Args& args, const profiles::Catalog& catalog) {
  return args.words.empty() ? planned(args, catalog) : saved(args, catalog);
}

std::string planned_text(const Report& report) {
  return format("{}, {} tokens, {} sequences", model_name(report), profiles::grouped(report.plan.settings.max_model_len),
                report.plan.settings.max_num_seqs);
}

}  // namespace kvfit::cli
