// CUDA graphs: what capturing them takes ("Graph capturing finished ... took X GiB") and what the profile run sets aside for
// it ("Estimated CUDA graph memory"). Both grow with the number of graphs and, for each, with the layers it records.
//
// Source: vllm/v1/worker/gpu_model_runner.py capture_model, profile_cudagraph_memory; tables graphs, graph_estimate,
// attention_workspace.
#pragma once

#include <cstdint>
#include <string>

#include "planner/loaded_weights.h"

namespace kvfit::planner {

class GraphModel {
 public:
  GraphModel(const Question& question, const Settings& settings, const Traits& traits, const Rank& rank);

  /// Zero when eager.
  Amount actual(const Settings& settings) const;
  /// What this version would estimate, applied or not; zero for the V2 runner and when eager.
  Amount estimate(const Settings& settings) const;
  /// Blocks of the throw-away KV cache the estimate needs while it runs: min(sequences, largest graph); 0 = no estimate run.
  std::int64_t profiling_blocks(const Settings& settings) const;
  /// The attention backend's workspace, allocated at its first real call; part of the estimate where one is made. Backends
  /// that unpack a compressed cache before a prefill hold one request of max_model_len tokens in it.
  Amount attention_workspace(const Settings& settings) const;

  const std::string& source() const { return source_; }
  const std::string& estimate_source() const { return estimate_source_; }

 private:
  double per_graph_ = 0, per_graph_layer_ = 0, constant_ = 0;
  double relative_error_ = 0, fixed_error_ = 0;
  bool estimated_ = false;
  double estimate_scale_ = 1, estimate_constant_ = 0, estimate_per_token_ = 0;
  double estimate_relative_error_ = 0, estimate_fixed_error_ = 0;
  double layers_ = 0;
  Amount attention_workspace_;
  double unpacked_per_token_ = 0;
  std::string source_, estimate_source_;
};

}  // namespace kvfit::planner
