// The profile run's peak ("peak activation"): the engine runs its vision encoder on the largest items, one forward pass of
// max_num_batched_tokens tokens and the sampler on min(max_num_seqs, max_num_batched_tokens) rows, and keeps room for the
// largest of them.
//
//   peak = max(encoder, encoder outputs + max(forward, sampler)) + max(experts, index) + latent + GEMM workspace
//
// Workspaces of the experts and of the sparse index share one buffer. Only the index buffer grows with max_model_len.
// Source: vllm/v1/worker/gpu_model_runner.py profile_run, _dummy_run, _dummy_sampler_run; tables sampler_peak, forward_peak,
// expert_workspace, encoder_peak, latent_workspace, gemm_workspace of the engine's profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/loaded_weights.h"

namespace kvfit::planner {

/// Prepared once a rank; at() is a few multiplications.
class ActivationModel {
 public:
  ActivationModel(const Question& question, const Settings& settings, const Traits& traits, const Rank& rank);

  struct Parts {
    std::int64_t sampler = 0, forward = 0, encoder = 0, encoder_outputs = 0;
    std::int64_t experts = 0;  ///< workspaces of the routed experts, which persist
    std::int64_t gemm = 0;     ///< cuBLAS workspace
    std::int64_t latent = 0;   ///< chunked prefill of latent attention
    std::int64_t index = 0;    ///< keys gathered for the sparse index of a prefill
    std::int64_t peak() const;
    const char* largest() const;  ///< "sampler", "forward" or "encoder"
  };
  /// Of `settings` only sequences, batch and length count.
  Parts parts(const Settings& settings) const;
  Amount at(const Settings& settings) const;

  const std::string& source() const { return source_; }

 private:
  void read_sampler(const Question& question, const Settings& settings, const Traits& traits);
  void read_forward(const Question& question, const Settings& settings, const Traits& traits, const Rank& rank);
  void read_encoder(const models::Vision& vision, const Rules& rules, const Settings& settings, const Traits& traits);

  double bytes_per_logit_ = 0, bytes_per_processor_logit_ = 0;
  std::int64_t vocab_ = 0, hidden_ = 0, processors_ = 0, element_ = 2;
  bool samples_ = true;
  double forward_per_token_ = 0, expert_per_token_ = 0, index_per_length_ = 0;
  std::int64_t latent_ = 0, gemm_ = 0;
  bool encodes_ = false;
  std::int64_t item_tokens_ = 0, item_pixels_ = 0, item_encoder_ = 0, encoder_token_ = 0;
  double relative_error_ = 0, sampler_error_ = 0, encoder_error_ = 0, workspace_error_ = 0;
  std::int64_t fixed_error_ = 0;
  std::string source_;
};

}  // namespace kvfit::planner
