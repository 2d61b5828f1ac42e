// One question, any number of configurations: prepared once, then each (experts, context, sequences, utilisation) is priced
// in a few hundred integer operations. This is where the engine's accounting is put together:
//
//   requested = ceil(total x utilisation)
//   available = requested - weights - activation - non-torch - graph estimate        (the KV cache's bytes)
//   blocks    = available / bytes per block, the smallest over all ranks
//   run       : free at start >= requested + what is allocated after the pool was sized
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "planner/checks.h"
#include "planner/frontier.h"
#include "planner/kv_groups.h"
#include "planner/memory_model.h"
#include "planner/plan.h"
#include "planner/question.h"

namespace kvfit::planner {

class Evaluator {
 public:
  /// Keeps a reference to nothing: the question is copied. Throws Error when it cannot be priced (unknown tables, a
  /// combination the engine refuses).
  explicit Evaluator(Question question);
  /// The same for a question that differs little from another's: loaded weights are shared where they are the same.
  Evaluator(Question question, const Evaluator& like);

  const Question& question() const { return question_; }

  /// The settings at which nothing is searched: what the question states, the engine's defaults for the rest.
  const Settings& settings() const;
  /// Its point; with max_model_len `auto`, the length the engine would reduce itself to.
  Point stated_point() const;

  /// Verdict and margin only.
  Outcome probe(const Point& point) const;
  /// All numbers of one configuration.
  Numbers numbers(const Point& point) const;
  /// What a pool of so many available bytes holds in this configuration (of one stage): exact, whatever the memory model
  /// says.
  KvCapacity capacity(const Point& point, Bytes available, std::size_t stage = 0) const;
  /// "Estimated CUDA graph memory" as this version prints it, whether or not it is applied; of the first stage.
  Amount graph_estimate(const Point& point) const;
  /// Settings, ledgers, checks with their sentences, capacity, verdict; gates, ladder and levers are added by make_plan.
  Plan plan(const Point& point) const;

 private:
  /// What is prepared for one batch limit: settings that follow from it, and the memory and cache models of each stage.
  struct Prepared {
    Settings settings;
    Traits traits;
    std::vector<Refusal> refused;
    std::vector<Rank> ranks;
    std::vector<MemoryModel> memory;
    std::vector<KvLayout> layouts;
  };
  const Prepared& prepared(const Point& point) const;
  Settings settings_at(const Prepared& prepared, const Point& point) const;
  StageNumbers stage_numbers(const Prepared& prepared, const Settings& settings, std::size_t stage, std::int64_t experts,
                             Bytes requested) const;
  Ledger ledger(const Prepared& prepared, const Numbers& numbers, std::size_t stage) const;

  Question question_;
  hardware::ByteRange total_, free_;
  mutable std::vector<std::shared_ptr<const LoadedWeights>> weights_;  ///< by stage, once prepared
  mutable std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<Prepared>> cache_;
};

}  // namespace kvfit::planner
