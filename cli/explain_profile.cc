// The terms behind the profile run and the CUDA graphs, for entries that the planner sums up.
#include <string>
#include <vector>

#include "cli/explain.h"
#include "cli/words.h"
#include "planner/activation.h"
#include "planner/graphs.h"
#include "planner/rank.h"
#include "planner/traits.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {
namespace {

using profiles::Bytes;
using profiles::format;
using profiles::grouped;

std::string amount(std::int64_t bytes) { return grouped(bytes); }

void explain_activation(const planner::ActivationModel& model, const planner::Settings& settings, Explanation& out) {
  const planner::ActivationModel::Parts p = model.parts(settings);
  out.formula =
      "max(encoder, encoder outputs + max(forward, sampler)) + max(experts, sparse index) + GEMM + latent attention";
  out.worked.push_back(
      format("encoder {}, encoder outputs {}, forward {} and sampler {} bytes, of {} sequences and {} tokens",
             amount(p.encoder), amount(p.encoder_outputs), amount(p.forward), amount(p.sampler),
             grouped(settings.max_num_seqs), grouped(settings.max_num_batched_tokens)));
  out.worked.push_back(format("workspaces: experts {}, GEMM {}, latent attention {} bytes", amount(p.experts),
                              amount(p.gemm), amount(p.latent)));
  out.worked.push_back(format("{} decides: {} bytes in all", p.largest(), amount(p.peak())));
}

void explain_estimate(const planner::GraphModel& model, const planner::Settings& settings, Explanation& out) {
  out.formula = "graphs as they will be captured x the estimate's scale + its constant + attention workspace";
  out.worked.push_back(format("{} piecewise and {} full graphs take {} bytes", settings.capture_sizes.size(),
                              settings.full_capture_sizes, amount(model.actual(settings).bytes.count)));
  out.worked.push_back(format("attention workspace {} bytes", amount(model.attention_workspace(settings).bytes.count)));
  out.worked.push_back(format("estimate {} bytes", amount(model.estimate(settings).bytes.count)));
}

void explain_graphs(const planner::GraphModel& model, const planner::Settings& settings, Explanation& out) {
  const Bytes set_aside = settings.graph_estimate_applied ? model.estimate(settings).bytes : Bytes(0);
  out.formula = "graphs + attention workspace - what the profile run set aside, not below 0";
  out.worked.push_back(format("{} + {} - {} bytes", amount(model.actual(settings).bytes.count),
                              amount(model.attention_workspace(settings).bytes.count), amount(set_aside.count)));
}

}  // namespace

void explain_terms(const Report& report, const planner::Ledger& ledger, std::vector<Explanation>& items) {
  const planner::Question& question = report.question;
  if (!question.rules) return;
  planner::Traits traits = planner::traits_of(question);
  planner::add_settings(traits, report.plan.settings);
  for (const planner::Rank& rank : planner::distinct_ranks(question.model, report.plan.settings)) {
    if (rank.stage != ledger.stage) continue;
    const planner::ActivationModel activation(question, report.plan.settings, traits, rank);
    const planner::GraphModel graphs(question, report.plan.settings, traits, rank);
    for (Explanation& item : items) {
      if (item.key == "profile.activation") explain_activation(activation, report.plan.settings, item);
      if (item.key == "profile.graph_estimate") explain_estimate(graphs, report.plan.settings, item);
      if (item.key == "outside.graphs") explain_graphs(graphs, report.plan.settings, item);
    }
    return;
  }
}

}  // namespace kvfit::cli
