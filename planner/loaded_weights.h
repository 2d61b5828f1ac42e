// "Model loading took X GiB": the bytes one rank holds once the weights are loaded, by role, with the allocator's rounding
// and what the engine adds (rotary caches, copies for latent attention, LoRA slots, expert balancing buffers, a drafter).
//
// Prepared once a rank; afterwards any expert count costs a few dozen multiplications.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/engine_tensors.h"
#include "planner/ledger.h"
#include "planner/question.h"
#include "planner/rank.h"
#include "planner/settings.h"

namespace kvfit::planner {

/// Bytes with the half width of their 90 % bar.
struct Amount {
  Bytes bytes, error;
};

/// How torch's caching allocator counts a tensor; table `allocator`.
struct AllocatorRounding {
  std::int64_t grain = 512;              ///< every block is a multiple of this
  std::int64_t segment_from = 10 << 20;  ///< tensors of at least this size get a segment of their own ...
  std::int64_t segment = 2 << 20;        ///< ... rounded up to this
  std::int64_t kept_rest = 1 << 20;      ///< a rest up to this is not split off and counts as allocated
  std::int64_t no_split_from = 0;        ///< blocks from this size keep any rest; 0 = no such limit
  std::int64_t counted(std::int64_t bytes) const;
};

/// A part that is not a checkpoint tensor.
struct ExtraPart {
  std::string label, text, source;
  std::int64_t fixed = 0, per_local = 0;
  Provenance provenance = Provenance::derived;
};

/// True when speculation uses draft layers stored in the target's own checkpoint (MTP); n-gram and suffix methods have none.
bool drafts_in_model(const Question& question, const Settings& settings, const Traits& traits);

class LoadedWeights {
 public:
  /// Throws Error when the rules lack a needed table.
  LoadedWeights(const Question& question, const Settings& settings, const Traits& traits, const Rank& rank);

  /// `experts`: routed experts of the model, without redundant ones; ignored for dense models.
  Amount total(std::int64_t experts) const;
  /// "weights.<role>", extras, "weights.allocator" (rounding), "weights.offloaded" (negative); they sum to total().
  std::vector<Entry> entries(std::int64_t experts) const;

 private:
  std::int64_t local(std::int64_t experts) const;
  std::int64_t offloaded(std::int64_t loaded) const;

  std::vector<EngineTensor> tensors_;
  std::vector<ExtraPart> extras_;
  AllocatorRounding allocator_;
  std::int64_t expert_parallel_ = 1, expert_rank_ = 0, redundant_ = 0;
  std::int64_t repack_rest_ = 0;  ///< bytes each repacked tensor leaves behind
  std::int64_t offload_limit_ = 0;
  double relative_error_ = 0;
  std::int64_t fixed_error_ = 0;
  bool exact_ = false;
  std::string source_;
};

}  // namespace kvfit::planner
