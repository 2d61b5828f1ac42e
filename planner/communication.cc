#include "planner/communication.h"

#include <cmath>

#include "planner/engine_tensors.h"
#include "profiles/units.h"

namespace kvfit::planner {
namespace {

Amount amount(const Row& row, std::string_view key) {
  return {Bytes(row.count(key)), Bytes(std::llround(row.error_of(key)))};
}

}  // namespace

CommunicationModel::CommunicationModel(const Question& question, const Settings& settings, const Traits& traits)
    : vocab_(padded_vocabulary(question.model.vocab, *question.rules, traits)) {
  const Rules& rules = *question.rules;
  if (const Row* row = rules.find("communicators", traits); row != nullptr) {
    before_ = amount(*row, "bytes");
    before_source_ = row->source;
  }
  const Row& growth = rules.pick("non_torch", traits);
  non_torch_ = amount(growth, "bytes");
  non_torch_source_ = growth.source;
  if (const Row* state = rules.find("runner_state", traits); state != nullptr && settings.runner == Runner::v2) {
    state_per_logit_ = state->value("bytes_per_logit");
    charged_ = state->value("charged") != 0;
  }
}

Amount CommunicationModel::runner_state(const Settings& settings) const {
  const double bytes = state_per_logit_ * static_cast<double>(settings.max_num_seqs) * static_cast<double>(vocab_);
  return {Bytes(std::llround(bytes)), Bytes(std::llround(bytes / 10))};
}

}  // namespace kvfit::planner
