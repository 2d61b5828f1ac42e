#include "planner/memory_model.h"

#include <cmath>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "profiles/text.h"

namespace kvfit::planner {
namespace {

Amount plus(const Amount& a, const Amount& b) { return {a.bytes + b.bytes, quadrature({a.error, b.error})}; }

// What capturing takes beyond what the budget set aside; negative where the estimate left room.
Amount beyond(const Amount& captured, const Amount& estimate) {
  return {captured.bytes - estimate.bytes, quadrature({captured.error, estimate.error})};
}

Entry entry(std::string label, std::string text, Section section, const Amount& amount, Provenance provenance,
            std::string source) {
  return {.label = std::move(label),
          .text = std::move(text),
          .section = section,
          .bytes = amount.bytes,
          .error = amount.error,
          .provenance = provenance,
          .source = std::move(source)};
}

}  // namespace

Bytes MemorySums::budgeted_error() const {
  return quadrature({weights.error, activation.error, non_torch.error, graph_estimate.error});
}

MemoryModel::MemoryModel(const Question& question, const Settings& settings, const Traits& traits, const Rank& rank,
                         std::shared_ptr<const LoadedWeights> weights)
    : weights_(weights ? std::move(weights) : std::make_shared<const LoadedWeights>(question, settings, traits, rank)),
      activation_(question, settings, traits, rank),
      graphs_(question, settings, traits, rank),
      communication_(question, settings, traits),
      outside_(question, settings, traits, rank) {}

MemorySums MemoryModel::sums(const Settings& settings, std::int64_t experts) const {
  MemorySums out;
  out.before_engine = communication_.before_engine();
  out.weights = weights_->total(experts);
  out.activation = activation_.at(settings);
  out.non_torch = communication_.non_torch();
  out.graphs = graphs_.actual(settings);
  if (settings.graph_estimate_applied) out.graph_estimate = graphs_.estimate(settings);
  const Amount captured = plus(out.graphs, graphs_.attention_workspace(settings));
  out.outside = plus(outside_.constant_sum(), beyond(captured, out.graph_estimate));
  out.outside = plus(out.outside, outside_.prefill_scratch(settings.max_num_batched_tokens, out.activation.bytes));
  const Amount state = communication_.runner_state(settings);
  Amount& holder = communication_.runner_state_charged() ? out.non_torch : out.outside;
  holder = plus(holder, state);
  return out;
}

std::vector<Entry> MemoryModel::profile_entries(const Settings& settings) const {
  std::vector<Entry> out;
  const Amount peak = activation_.at(settings);
  const ActivationModel::Parts parts = activation_.parts(settings);
  out.push_back(entry("profile.activation", profiles::format("activation peak of the profile run ({})", parts.largest()),
                      Section::profile, peak, Provenance::derived, activation_.source()));
  out.push_back(entry("profile.non_torch", "growth outside torch: modules, communicators, handles", Section::profile,
                      communication_.non_torch(), Provenance::measured, communication_.non_torch_source()));
  const Amount state = communication_.runner_state(settings);
  if (state.bytes.count > 0 && communication_.runner_state_charged()) {
    out.push_back(entry("profile.runner_state", "sampling state of the model runner", Section::profile, state,
                        Provenance::derived, "vllm/v1/worker/gpu/sample"));
  }
  if (settings.graph_estimate_applied) {
    out.push_back(entry("profile.graph_estimate", "set aside for CUDA graphs", Section::profile, graphs_.estimate(settings),
                        Provenance::measured, graphs_.estimate_source()));
  }
  return out;
}

std::vector<Entry> MemoryModel::outside_entries(const Settings& settings) const {
  std::vector<Entry> out;
  const Amount estimate = settings.graph_estimate_applied ? graphs_.estimate(settings) : Amount{};
  const Amount captured = plus(graphs_.actual(settings), graphs_.attention_workspace(settings));
  if (captured.bytes.count > 0) {
    out.push_back(entry("outside.graphs", "CUDA graphs and attention workspace beyond what was set aside", Section::outside,
                        beyond(captured, estimate), Provenance::measured, graphs_.source()));
  }
  const Amount peak = activation_.at(settings);
  const Amount scratch = outside_.prefill_scratch(settings.max_num_batched_tokens, peak.bytes);
  if (scratch.error.count > 0) {
    out.push_back(entry("outside.prefill_scratch", "recurrent prefill beyond the profiled peak", Section::outside, scratch,
                        Provenance::derived, outside_.scratch_source()));
  }
  const Amount state = communication_.runner_state(settings);
  if (state.bytes.count > 0 && !communication_.runner_state_charged()) {
    out.push_back(entry("outside.runner_state", "sampling state of the model runner", Section::outside, state,
                        Provenance::derived, "vllm/v1/worker/gpu/sample"));
  }
  for (const OutsideModel::Term& term : outside_.constant_terms()) {
    out.push_back(entry(term.label, term.text, Section::outside, term.amount, term.provenance, term.source));
  }
  return out;
}

std::vector<Entry> MemoryModel::entries(const Settings& settings, std::int64_t experts) const {
  std::vector<Entry> out;
  if (const Amount before = communication_.before_engine(); before.bytes.count > 0) {
    out.push_back(entry("before.communicators", "communicators set up before the engine starts", Section::before_engine,
                        before, Provenance::measured, communication_.before_source()));
  }
  for (const std::vector<Entry>& part : {weights_->entries(experts), profile_entries(settings), outside_entries(settings)}) {
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

bool same_weights(const Question& a, const Question& b) {
  const Serving& x = a.serving;
  const Serving& y = b.serving;
  const auto drafter = [](const Serving& s) {
    return s.speculative && s.speculative->tokens > 0 ? s.speculative->method : "";
  };
  const auto draft_model = [](const Serving& s) { return s.speculative ? s.speculative->draft.get() : nullptr; };
  return a.inventory == b.inventory && x.language_model_only == y.language_model_only && drafter(x) == drafter(y) &&
         draft_model(x) == draft_model(y) && x.tensor_parallel_size == y.tensor_parallel_size &&
         x.pipeline_parallel_size == y.pipeline_parallel_size && x.data_parallel_size == y.data_parallel_size &&
         x.enable_expert_parallel == y.enable_expert_parallel && x.enable_eplb == y.enable_eplb &&
         x.num_redundant_experts == y.num_redundant_experts && x.enable_lora == y.enable_lora &&
         x.max_loras == y.max_loras && x.max_lora_rank == y.max_lora_rank && x.cpu_offload_gb == y.cpu_offload_gb &&
         x.dtype == y.dtype && x.quantization == y.quantization && x.moe_backend == y.moe_backend;
}

}  // namespace kvfit::planner
