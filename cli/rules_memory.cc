// Findings about memory that is spent without need, or more than is safe.
#include <cstdint>
#include <string>
#include <vector>

#include "cli/check_rules.h"
#include "cli/words.h"
#include "planner/evaluator.h"
#include "planner/gates.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {
namespace {

using planner::Bytes;
using planner::Verdict;
using profiles::format;
using profiles::grouped;
using runtime::argument;
using runtime::place_of;

constexpr std::int64_t kFewSequences = 256;         // the engine's default on smaller cards
constexpr Bytes kWorthNaming = profiles::mib(512);  // less is not worth a reader's time

// The KV pool at the planned point with another question.
Bytes pool_with(const planner::Question& question) {
  const planner::Evaluator evaluator(question);
  return evaluator.numbers(evaluator.stated_point()).kv.available;
}

void default_sequences(const RuleInput& input, std::vector<Placed>& out) {
  const planner::Settings& settings = input.report.plan.settings;
  if (argument(input.deployment, "max-num-seqs") != nullptr || settings.max_num_seqs <= kFewSequences) return;
  planner::Question fewer = input.report.question;
  fewer.serving.max_num_seqs = kFewSequences;
  const Bytes gain = pool_with(fewer) - input.report.plan.kv.available;
  if (gain < kWorthNaming) return;
  add_finding(
      out, "KVF006",
      format("max_num_seqs is not stated, so {} {} takes {}: its sampler and graphs cost {} GiB of cache against {}",
             input.report.engine, input.report.engine_version, grouped(settings.max_num_seqs), gib(gain), kFewSequences),
      "state --max-num-seqs as high as you need", input.deployment.where)
      .subject = "max-num-seqs";
}

void wide_cache(const RuleInput& input, std::vector<Placed>& out) {
  const planner::Plan& plan = input.report.plan;
  const bool wide = plan.settings.kv_cache_dtype == "bf16" || plan.settings.kv_cache_dtype == "fp16";
  if (!wide || input.report.question.serving.kv_cache_dtype != "auto" || plan.kv.tokens <= 0) return;
  planner::Question narrow = input.report.question;
  narrow.serving.kv_cache_dtype = "fp8";
  for (const hardware::Gate& gate : planner::gates_of(narrow, plan.settings)) {
    if (gate.rule.starts_with("kv.") && gate.verdict != hardware::GateVerdict::native) return;
  }
  const planner::Evaluator evaluator(narrow);
  const std::int64_t tokens = evaluator.numbers(evaluator.stated_point()).kv.tokens;
  if (2 * tokens < 3 * plan.kv.tokens) return;  // less than half as much again
  add_finding(out, "KVF007",
              format("the cache is kept in {}: {} tokens; in fp8 it would hold {}", plan.settings.kv_cache_dtype,
                     grouped(plan.kv.tokens), grouped(tokens)),
              "--kv-cache-dtype fp8, after checking the quality on your own task",
              place_of(input.deployment, {"kv-cache-dtype", "max-model-len"}))
      .subject = plan.settings.kv_cache_dtype;
}

void utilisation(const RuleInput& input, std::vector<Placed>& out) {
  const planner::Plan& plan = input.report.plan;
  if (input.report.question.serving.kv_cache_memory_bytes) return;
  const bool over =
      plan.highest_safe_utilization && *plan.highest_safe_utilization < plan.settings.gpu_memory_utilization - 0.0005;
  if (!over) return;
  const bool wsl = input.report.question.node.system == hardware::System::wsl2;
  add_finding(out, "KVF008",
              format("utilisation {:.4g} is above what stays safe{}", plan.settings.gpu_memory_utilization,
                     wsl ? " under WSL2, where the host keeps part of the device" : " under load"),
              format("--gpu-memory-utilization {:.3f} is the highest that fits", *plan.highest_safe_utilization),
              place_of(input.deployment, {"gpu-memory-utilization"}))
      .subject = "gpu-memory-utilization";
}

void inflated_graphs(const RuleInput& input, std::vector<Placed>& out) {
  const planner::Question& question = input.report.question;
  if (!input.report.plan.settings.graph_estimate_applied) return;
  const planner::Row* row = question.rules->find("graph_estimate_inflated", planner::traits_of(question));
  if (row == nullptr) return;
  add_finding(out, "KVF010",
              format("the memory set aside for CUDA graphs came out {:.1f} times too high in a boot like this one: {}",
                     row->value("ratio"), row->source),
              row->word("remedy"), place_of(input.deployment, {"data-parallel-size", "enable-expert-parallel"}));
}

// A sign that images are served: any flag about them.
bool speaks_of_images(const runtime::Deployment& deployment) {
  for (const runtime::ServeArgument& one : deployment.arguments) {
    if (one.name.find("mm-") != std::string::npos || one.name.find("media") != std::string::npos) return true;
  }
  return false;
}

void idle_tower(const RuleInput& input, std::vector<Placed>& out) {
  if (!input.report.plan.settings.vision || speaks_of_images(input.deployment)) return;
  for (const planner::Lever& lever : input.report.plan.levers) {
    if (lever.id != "vision_off" || lever.frees < profiles::mib(128)) continue;
    add_finding(out, "KVF011", format("the vision tower and its profile take {} GiB", gib(lever.frees)),
                R"(if only text is served: --limit-mm-per-prompt '{"image":0,"video":0}')",
                input.deployment.model ? input.deployment.model->where : input.deployment.where)
        .subject = lever.id;
  }
}

}  // namespace

void memory_rules(const RuleInput& input, std::vector<Placed>& out) {
  if (input.report.plan.verdict == Verdict::refused) return;
  utilisation(input, out);
  default_sequences(input, out);
  wide_cache(input, out);
  inflated_graphs(input, out);
  idle_tower(input, out);
}

}  // namespace kvfit::cli
