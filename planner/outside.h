// What a running engine takes after its KV cache was sized: graphs beyond their estimate, kernel workspaces and autotuner
// buffers, scratch of recurrent prefill that the profile run never executes, peer-to-peer buffers, fragments. Whether
// the device still has it decides run-fit. Each term is a row of the engine's profile with its spread and source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/activation.h"
#include "planner/communication.h"
#include "planner/graphs.h"

namespace kvfit::planner {

class OutsideModel {
 public:
  OutsideModel(const Question& question, const Settings& settings, const Traits& traits, const Rank& rank);

  struct Term {
    std::string label, text, source;
    Amount amount;
    Provenance provenance = Provenance::measured;
  };
  /// Terms that depend only on the rank; prepared.
  const std::vector<Term>& constant_terms() const { return constant_; }
  Amount constant_sum() const { return constant_sum_; }
  /// Peak of a recurrent layer's prefill of `tokens` tokens that exceeds `profiled` bytes; zero when the profile covers it.
  Amount prefill_scratch(std::int64_t tokens, Bytes profiled) const;
  const std::string& scratch_source() const { return scratch_source_; }

 private:
  std::vector<Term> constant_;
  Amount constant_sum_;
  double scratch_per_token_ = 0, scratch_error_ = 0;
  std::string scratch_source_;
};

}  // namespace kvfit::planner
