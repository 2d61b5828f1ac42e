// One rank's memory beside the KV cache, as functions of what a search varies: routed experts, sequences, batch. Prepared
// once a rank from the model, the machine and the engine's rules; sums() is then cheap enough for a search.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "planner/activation.h"
#include "planner/communication.h"
#include "planner/graphs.h"
#include "planner/loaded_weights.h"
#include "planner/outside.h"

namespace kvfit::planner {

struct MemorySums {
  Amount before_engine;  ///< communicators; the CUDA context and other processes are the node's (hardware::free_at_start)
  Amount weights;
  Amount activation;      ///< profile peak
  Amount non_torch;       ///< charged growth outside torch, with the runner's state where this version charges it
  Amount graph_estimate;  ///< subtracted from the budget; zero when this version does not apply it
  Amount graphs;          ///< what capturing really takes
  Amount outside;         ///< all that is taken after the KV cache was sized, graphs beyond the estimate included

  /// weights + activation + non_torch + graph_estimate: available KV = requested - budgeted.
  Bytes budgeted() const { return weights.bytes + activation.bytes + non_torch.bytes + graph_estimate.bytes; }
  /// Half width of the bar of budgeted(), errors in quadrature.
  Bytes budgeted_error() const;
};

class MemoryModel {
 public:
  /// `weights`: of the same rank, prepared earlier for a question that loads the same (same_weights); null = prepare them
  /// here.
  MemoryModel(const Question& question, const Settings& settings, const Traits& traits, const Rank& rank,
              std::shared_ptr<const LoadedWeights> weights = nullptr);

  /// `settings` may differ from the prepared ones in sequences, batch, length and the capture sizes that follow from them.
  MemorySums sums(const Settings& settings, std::int64_t experts) const;
  /// The same as ledger entries: sections before_engine, weights, profile and outside. Sections sum to sums().
  std::vector<Entry> entries(const Settings& settings, std::int64_t experts) const;

  /// Blocks of the throw-away KV cache that must fit beside the weights while graphs are estimated; 0 = none.
  std::int64_t profiling_blocks(const Settings& settings) const { return graphs_.profiling_blocks(settings); }

  const LoadedWeights& weights() const { return *weights_; }
  std::shared_ptr<const LoadedWeights> shared_weights() const { return weights_; }
  const ActivationModel& activation() const { return activation_; }
  const GraphModel& graphs() const { return graphs_; }
  const CommunicationModel& communication() const { return communication_; }
  const OutsideModel& outside() const { return outside_; }

 private:
  std::vector<Entry> profile_entries(const Settings& settings) const;
  std::vector<Entry> outside_entries(const Settings& settings) const;

  std::shared_ptr<const LoadedWeights> weights_;
  ActivationModel activation_;
  GraphModel graphs_;
  CommunicationModel communication_;
  OutsideModel outside_;
};

/// Whether both questions load the same bytes on each rank: what differs is at most the batch, the cache or the graphs.
bool same_weights(const Question& a, const Question& b);

}  // namespace kvfit::planner
