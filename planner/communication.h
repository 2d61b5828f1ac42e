// Memory that torch does not allocate: communicators set up before the engine's first snapshot (they lower what is free at
// the start) and the growth while the model is loaded and profiled (charged to the budget as "non-torch").
//
// Source: vllm/v1/worker/gpu_worker.py init_device, vllm/utils/mem_utils.py; tables communicators, non_torch, runner_state.
#pragma once

#include <string>

#include "planner/loaded_weights.h"

namespace kvfit::planner {

class CommunicationModel {
 public:
  CommunicationModel(const Question& question, const Settings& settings, const Traits& traits);

  /// NCCL, custom all-reduce and symmetric memory, beside the CUDA context; zero for one GPU.
  Amount before_engine() const { return before_; }
  /// Charged: kernels' modules, lazy communicators, cuBLAS handles, leftovers of the graph estimate.
  Amount non_torch() const { return non_torch_; }
  /// Buffers of the model runner that scale with sequences x vocabulary (V2).
  Amount runner_state(const Settings& settings) const;
  /// False: this version's accounting misses them, they are taken outside the budget.
  bool runner_state_charged() const { return charged_; }

  const std::string& before_source() const { return before_source_; }
  const std::string& non_torch_source() const { return non_torch_source_; }

 private:
  Amount before_, non_torch_;
  double state_per_logit_ = 0;
  bool charged_ = false;
  std::int64_t vocab_ = 0;
  std::string before_source_, non_torch_source_;
};

}  // namespace kvfit::planner
