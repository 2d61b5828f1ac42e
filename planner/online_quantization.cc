#include "planner/online_quantization.h"

#include <memory>
#include <string>
#include <vector>

#include "models/quantization_reader.h"
#include "planner/traits.h"
#include "profiles/document.h"

namespace kvfit::planner {
namespace {

// nullptr where nothing is to be done, or nothing is known.
const Row* row_of(const Question& question) {
  if (question.serving.quantization.empty() || !question.model.quantization.method.empty()) return nullptr;
  return question.rules->find("online_quantization", stated_traits(question));
}

}  // namespace

void quantise_while_loading(Question& question) {
  const Row* row = row_of(question);
  if (row == nullptr || row->words.count("config") == 0) return;
  const profiles::Node config = profiles::parse_json(row->word("config"), "--quantization");
  question.model.quantization = models::read_quantization(&config, nullptr, config, question.model.missing);
  question.model.quantised_while_loading = true;
  question.inventory = std::make_shared<const models::TensorInventory>(models::derive_inventory(question.model));
}

bool quantisation_unknown(const Question& question) {
  return !question.serving.quantization.empty() && question.model.quantization.method.empty() && row_of(question) == nullptr;
}

}  // namespace kvfit::planner
