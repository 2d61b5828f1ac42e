#include "planner/loaded_weights.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "planner/weight_extras.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::planner {
namespace {

using models::Role;
using profiles::cdiv;
using profiles::round_up;

struct RoleText {
  Role role;
  std::string_view label, text;
};
constexpr RoleText kRoles[] = {
    {Role::expert, "weights.experts", "routed experts"},
    {Role::shared_expert, "weights.shared_experts", "shared experts"},
    {Role::router, "weights.routers", "routers"},
    {Role::attention, "weights.attention", "attention"},
    {Role::linear_attention, "weights.linear_attention", "recurrent mixers"},
    {Role::indexer, "weights.indexer", "sparse indexers"},
    {Role::dense_mlp, "weights.dense_mlp", "dense feed-forward"},
    {Role::embedding, "weights.embedding", "embedding"},
    {Role::head, "weights.head", "output head"},
    {Role::norm, "weights.norms", "norms"},
    {Role::vision, "weights.vision", "vision tower"},
    {Role::audio, "weights.audio", "audio tower"},
    {Role::draft, "weights.draft", "draft model"},
    {Role::other, "weights.other", "other tensors"},
};

AllocatorRounding read_allocator(const Rules& rules, const Traits& traits) {
  AllocatorRounding out;
  const Row& row = rules.pick("allocator", traits);
  out.segment_from = row.count("segment_from");
  out.segment = row.count("segment");
  out.kept_rest = row.count("kept_rest");
  out.no_split_from = row.count("no_split_from");
  return out;
}

// A drafter that is a checkpoint of its own, on the last stage's ranks.
void add_drafter(std::vector<EngineTensor>& tensors, const Speculative& speculative, const Question& question,
                 const Settings& settings, const Traits& traits) {
  const bool shares = speculative.draft->vocab == question.model.vocab && speculative.draft->hidden == question.model.hidden;
  const Checkpoint checkpoint{.model = *speculative.draft,
                              .inventory = *speculative.draft_inventory,
                              .own_draft_layers = true,
                              .loads_vision = false,
                              .shares_embedding = shares && speculative.method != "draft_model"};
  const Rank whole{.end_layer = static_cast<std::int64_t>(speculative.draft->layers.size())};
  for (EngineTensor tensor : engine_tensors(checkpoint, question, settings, traits, whole)) {
    tensor.role = Role::draft;
    tensor.fixed += tensor.per_local * models::expert_count(*speculative.draft);  // the drafter is not carved
    tensor.fixed += tensor.per_expert * models::expert_count(*speculative.draft);
    tensor.per_local = tensor.per_expert = 0;
    tensors.push_back(tensor);
  }
}

std::int64_t experts_of_one_layer(const std::vector<EngineTensor>& tensors, std::int64_t moe_layers) {
  std::int64_t all = 0;
  for (const EngineTensor& t : tensors) {
    if (t.role == Role::expert) all += t.per_local * t.copies;
  }
  return moe_layers > 0 ? all / moe_layers : 0;
}

}  // namespace

bool drafts_in_model(const Question& question, const Settings& settings, const Traits& traits) {
  const Serving& serving = question.serving;
  if (settings.speculative_tokens == 0 || !serving.speculative || serving.speculative->draft) return false;
  const Row* row = question.rules->find("speculative", traits);
  return row != nullptr && row->is("draft_layers", "yes");
}

std::int64_t AllocatorRounding::counted(std::int64_t bytes) const {
  if (bytes < segment_from) return round_up(bytes, grain);
  const std::int64_t whole = round_up(bytes, segment);
  const bool keeps = whole - bytes <= kept_rest || (no_split_from > 0 && bytes >= no_split_from);
  return keeps ? whole : round_up(bytes, grain);
}

LoadedWeights::LoadedWeights(const Question& question, const Settings& settings, const Traits& traits, const Rank& rank)
    : allocator_(read_allocator(*question.rules, traits)),
      expert_parallel_(settings.expert_parallel),
      expert_rank_(rank.expert_rank),
      redundant_(question.serving.num_redundant_experts) {
  const Serving& serving = question.serving;
  const Checkpoint checkpoint{.model = question.model,
                              .inventory = *question.inventory,
                              .own_draft_layers = drafts_in_model(question, settings, traits),
                              .loads_vision = settings.vision};
  tensors_ = engine_tensors(checkpoint, question, settings, traits, rank);
  std::int64_t moe_layers = 0;
  for (std::int64_t i = rank.first_layer; i < rank.end_layer; ++i) {
    if (question.model.layers[static_cast<std::size_t>(i)].moe) ++moe_layers;
  }
  extras_ = weight_extras(question, settings, traits, rank, experts_of_one_layer(tensors_, moe_layers));
  if (settings.speculative_tokens > 0 && serving.speculative && serving.speculative->draft && rank.last_stage &&
      serving.speculative->draft_inventory) {
    add_drafter(tensors_, *serving.speculative, question, settings, traits);
  }
  offload_limit_ = profiles::from_gib(serving.cpu_offload_gb).count;
  exact_ = question.inventory->exact;
  const Row& bar = question.rules->pick("weights_error", traits);
  relative_error_ = bar.value("relative") + (question.model.missing.empty() ? 0.0 : bar.value_or("missing_facts", 0));
  fixed_error_ = bar.count("bytes");
  source_ = exact_ ? "safetensors headers" : "derived from the configuration";
  if (const Row* row = question.rules->find("int4_kernel", traits); row != nullptr) repack_rest_ = row->count("kept_rest");
}

std::int64_t LoadedWeights::local(std::int64_t experts) const {
  return local_experts(experts + redundant_, expert_parallel_, expert_rank_);
}

std::int64_t LoadedWeights::offloaded(std::int64_t loaded) const { return std::min(offload_limit_, loaded); }

Amount LoadedWeights::total(std::int64_t experts) const {
  const std::int64_t here = local(experts);
  std::int64_t sum = 0;
  for (const EngineTensor& t : tensors_) {
    sum += t.copies * (allocator_.counted(t.bytes(experts, here)) + (t.repacked ? repack_rest_ : 0));
  }
  for (const ExtraPart& part : extras_) sum += part.fixed + part.per_local * here;
  const double bar = relative_error_ * static_cast<double>(sum) + static_cast<double>(fixed_error_);
  return {Bytes(sum - offloaded(sum)), Bytes(std::llround(bar))};
}

std::vector<Entry> LoadedWeights::entries(std::int64_t experts) const {
  const std::int64_t here = local(experts);
  std::map<Role, std::int64_t> by_role;
  std::int64_t loaded = 0;
  for (const EngineTensor& t : tensors_) {
    by_role[t.role] += t.copies * t.bytes(experts, here);
    loaded += t.copies * (allocator_.counted(t.bytes(experts, here)) + (t.repacked ? repack_rest_ : 0));
  }
  std::vector<Entry> out;
  std::int64_t listed = 0;
  const auto add = [&](std::string label, std::string text, std::int64_t bytes, Provenance provenance, std::string source) {
    listed += bytes;
    out.push_back({.label = std::move(label),
                   .text = std::move(text),
                   .section = Section::weights,
                   .bytes = Bytes(bytes),
                   .error = {},
                   .provenance = provenance,
                   .source = std::move(source)});
  };
  for (const RoleText& role : kRoles) {
    if (const std::int64_t bytes = by_role[role.role]; bytes > 0) {
      add(std::string(role.label), std::string(role.text), bytes, exact_ ? Provenance::exact : Provenance::derived, source_);
    }
  }
  for (const ExtraPart& part : extras_) {
    const std::int64_t bytes = part.fixed + part.per_local * here;
    loaded += bytes;
    add(part.label, part.text, bytes, part.provenance, part.source);
  }
  add("weights.allocator", "allocator rounding", loaded - listed, Provenance::derived, "torch CUDACachingAllocator");
  if (const std::int64_t away = offloaded(loaded); away > 0) {
    add("weights.offloaded", "offloaded to host memory", -away, Provenance::derived, "--cpu-offload-gb");
  }
  // The bar of the sum, shared so that the entries' bars add up to it in quadrature.
  const Amount whole = total(experts);
  for (Entry& entry : out) {
    const double share =
        static_cast<double>(std::abs(entry.bytes.count)) / static_cast<double>(std::max<std::int64_t>(loaded, 1));
    entry.error = Bytes(std::llround(static_cast<double>(whole.error.count) * std::sqrt(std::min(share, 1.0))));
  }
  return out;
}

}  // namespace kvfit::planner
