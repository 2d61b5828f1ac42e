#include "cli/question_checks.h"

#include <cstdint>
#include <string>
#include <vector>

#include "models/model.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using profiles::fail_input;
using profiles::format;

std::string divisors(std::int64_t n) {
  std::vector<std::int64_t> out;
  for (std::int64_t d = 1; d <= n && out.size() < 8; ++d) {
    if (n % d == 0) out.push_back(d);
  }
  return format("{}", profiles::join(out, ", "));
}

void check_parallel(const planner::Question& question) {
  const planner::Serving& serving = question.serving;
  const std::int64_t tp = serving.tensor_parallel_size;
  const std::int64_t layers = static_cast<std::int64_t>(question.model.layers.size());
  if (serving.pipeline_parallel_size > layers) {
    fail_input(
        format("pipeline parallel size {} is more than the model's {} layers", serving.pipeline_parallel_size, layers));
  }
  const std::int64_t dcp = serving.decode_context_parallel_size;
  if (tp % dcp != 0) {
    fail_input(format("decode context parallel size {} does not divide tensor parallel size {}", dcp, tp), {},
               format("the engine takes {}", divisors(tp)));
  }
}

}  // namespace

std::string missing_draft(const planner::Question& question) {
  const planner::Serving& serving = question.serving;
  if (!serving.speculative || serving.speculative->draft || question.model.draft) return "";
  const std::string& method = serving.speculative->method;
  const bool needs = method.find("mtp") != std::string::npos || method.starts_with("eagle") || method == "draft_model";
  if (!needs) return "";
  const models::Model& model = question.model;
  return format("speculation by {} needs draft weights, {} has none", method,
                model.repository.empty() ? model.id : model.repository);
}

void check_question(const planner::Question& question, bool drafter_named) {
  check_parallel(question);
  const std::string lacks = drafter_named ? "" : missing_draft(question);
  if (lacks.empty()) return;
  fail_input(
      lacks, {},
      R"(name a draft checkpoint: --speculative-config '{"method": ..., "model": ..., "num_speculative_tokens": ...}')");
}

}  // namespace kvfit::cli
