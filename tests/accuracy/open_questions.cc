#include "tests/accuracy/open_questions.h"

#include <string>

#include "planner/traits.h"
#include "profiles/text.h"
#include "tests/accuracy/model_text.h"
#include "tests/accuracy/recipe.h"
#include "tests/accuracy/spelling.h"

namespace kvfit::accuracy {

using planner::Question;
using profiles::format;

namespace {

/// Releases on both sides of the one assumed, far enough that the accounting differs. The first engine's lines are its own.
std::vector<std::string> neighbours(const std::string& version) {
  if (first_engine(version)) return {};
  if (version.empty()) return {"0.20.0", "0.25.0"};
  const planner::Version about = planner::parse_version(version);
  return {format("0.{}.0", about.minor - 1), format("0.{}.0", about.minor + 1)};
}

std::vector<Question> other_versions(const Library& library, const Case& stated) {
  std::vector<Question> out;
  for (const std::string& version : neighbours(stated.version)) {
    out.push_back(stated.question);
    out.back().rules = library.rules(version);
  }
  return out;
}

/// Who leaves a number out of a report from a machine with unified memory has mostly lowered it.
std::vector<Question> fewer_sequences(const Case& stated, std::int64_t sequences) {
  Question other = stated.question;
  other.serving.max_num_seqs = std::max<std::int64_t>(sequences / 4, 1);
  return {other};
}

std::vector<Question> other_batch(const Case& stated, std::int64_t tokens) {
  Question other = stated.question;
  other.serving.max_num_batched_tokens = tokens > 2048 ? 2048 : 8192;
  return {other};
}

/// Checkpoints of this architecture in the format named, where the name does not say which: each publisher leaves other
/// modules in 16 bits.
std::vector<Question> other_recipes(const Library& library, const Observation& row, const Case& stated) {
  std::vector<Question> out;
  const std::string quant = row.quant.value_or("");
  const double asked = format_agreement(stated.question.model, *row.model, quant);
  for (const Match& match : find_models(library.models(), *row.model, quant)) {
    const models::Model other = library.model(match.id);
    if (format_agreement(other, *row.model, quant) < asked) continue;
    out.push_back(stated.question);
    out.back().model.quantization = other.quantization;
  }
  return out;
}

}  // namespace

std::optional<Question> tower_question(const Observation& row, const Question& asked) {
  if (row.shape != "bench" || row.vision != false || !asked.model.vision) return std::nullopt;
  Question out = asked;
  out.serving.language_model_only = false;
  return out;
}

std::vector<std::vector<Question>> open_questions(const Library& library, const Observation& row, const Case& stated) {
  std::vector<std::vector<Question>> out;
  if (const std::optional<Question> with_tower = tower_question(row, stated.question)) out.push_back({*with_tower});
  if (!stated.recipe_known && row.model) out.push_back(other_recipes(library, row, stated));
  if (stated.statement.version) return out;
  out.push_back(other_versions(library, stated));
  if (!stated.question.node.gpu.unified) return out;
  planner::Traits traits = planner::stated_traits(stated.question);
  const planner::Settings settings = planner::resolve_settings(stated.question, traits);
  if (!row.arguments.max_num_seqs) out.push_back(fewer_sequences(stated, settings.max_num_seqs));
  if (!row.arguments.max_num_batched_tokens) out.push_back(other_batch(stated, settings.max_num_batched_tokens));
  return out;
}

}  // namespace kvfit::accuracy
