#include "planner/engine_tensors.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "models/trellis.h"
#include "planner/module_split.h"
#include "profiles/units.h"

namespace kvfit::planner {
namespace {

using models::Model;
using models::Role;
using models::Tensor;
using profiles::cdiv;
using profiles::DType;
using profiles::round_up;

/// A tower of which only the size is known is one long row of parameters; nearly all of them are divided.
constexpr std::int64_t kLump = 1 << 20;

struct Divisors {
  std::int64_t tp = 1, kv = 1, experts = 1;
};

// Padding and rewriting of quantised weights, read once from the rules.
struct Repack {
  std::int64_t hidden_multiple = 1, inter_multiple = 1;  // of routed experts
  bool pads_scales = false;
  std::int64_t fp8_block_scale_bytes = 0;  // weight-only fp8: bytes a block's scale grows to; 0 = stays
  bool int4_kernel = false;
  bool host_tables = false;      // tables beside the layers stay in host memory
  std::int64_t router_bits = 0;  // routers kept in a type of their own; 0 = the model's
  std::int64_t vocabulary_multiple = 1;
};

std::int64_t most_kv_heads(const Model& model) {
  std::int64_t heads = 1;
  for (const models::Layer& layer : model.layers) {
    if (layer.attention) heads = std::max(heads, layer.attention->kv_heads);
  }
  return heads;
}

Repack read_repack(const Rules& rules, const Traits& traits) {
  Repack out;
  if (const Row* row = rules.find("expert_padding", traits); row != nullptr) {
    out.hidden_multiple = static_cast<std::int64_t>(row->value_or("hidden_multiple", 1));
    out.inter_multiple = static_cast<std::int64_t>(row->value_or("intermediate_multiple", 1));
    out.pads_scales = row->value_or("pads_scales", 0) != 0;
  }
  if (const Row* row = rules.find("weight_only_fp8", traits); row != nullptr) {
    out.fp8_block_scale_bytes = static_cast<std::int64_t>(row->value_or("bytes_per_block_scale", 0));
  }
  out.int4_kernel = rules.find("int4_kernel", traits) != nullptr;
  out.vocabulary_multiple = padded_vocabulary(1, rules, traits);
  out.host_tables = rules.find("host_tables", traits) != nullptr;
  if (const Row* row = rules.find("router_weight", traits); row != nullptr) out.router_bits = row->count("bits");
  return out;
}

bool is_float(DType type) { return type == DType::bf16 || type == DType::f16 || type == DType::f32; }

class Loader {
 public:
  Loader(const Checkpoint& checkpoint, const Question& question, const Settings& settings, const Traits& traits,
         const Rank& rank)
      : checkpoint_(checkpoint), settings_(settings), rank_(rank), repack_(read_repack(*question.rules, traits)) {
    divisors_.tp = settings.tp;
    divisors_.kv = std::min(settings.tp, most_kv_heads(checkpoint.model));
    divisors_.experts = settings.expert_parallel > 1 ? 1 : settings.tp;
    for (const models::Layer& layer : checkpoint.model.layers) {
      if (layer.moe) moe_ = &*layer.moe;
    }
    sliced_ = std::ranges::any_of(checkpoint.inventory.tensors,
                                  [](const Tensor& tensor) { return tensor.name.ends_with(".trellis"); });
  }

  void add(const Tensor& tensor) {
    // Slices cut before they were encoded: ranks are alike, and each loads its own.
    if (!loaded(tensor)) return;
    const int slice = sliced_ ? models::slice_rank(tensor.name) : -1;
    if (slice > 0) return;
    const ParamName name = engine_parameter(tensor);
    if (dropped(tensor, name)) return;
    EngineTensor& parameter = parameters_[name.parameter];
    parameter.role = tensor.role;
    parameter.repacked = parameter.repacked || (repack_.int4_kernel && packed_int4(tensor, name));
    const std::int64_t experts = expert_extent(tensor);
    const Role role = acting_role(tensor);
    const std::int64_t bytes = rank_bytes(tensor, name, role, slice >= 0);
    if (experts == 0) {
      parameter.fixed += bytes;
    } else if (role == Role::expert) {
      parameter.per_local += bytes / experts;
    } else {
      parameter.per_expert += bytes / experts;
    }
  }

  std::vector<EngineTensor> take() const {
    std::map<std::tuple<Role, std::int64_t, std::int64_t, std::int64_t, bool>, std::int64_t> alike;
    for (const auto& [name, p] : parameters_) ++alike[{p.role, p.fixed, p.per_local, p.per_expert, p.repacked}];
    std::vector<EngineTensor> out;
    for (const auto& [key, copies] : alike) {
      const auto& [role, fixed, local, expert, repacked] = key;
      out.push_back(
          {.role = role, .fixed = fixed, .per_local = local, .per_expert = expert, .copies = copies, .repacked = repacked});
    }
    return out;
  }

 private:
  static Role acting_role(const Tensor& tensor) { return tensor.role == Role::draft ? tensor.draft_role : tensor.role; }

  bool loaded(const Tensor& tensor) const {
    switch (tensor.role) {
      case Role::draft:  // embedding and head are the target's
        return checkpoint_.own_draft_layers && rank_.last_stage && tensor.draft_role != Role::embedding &&
               tensor.draft_role != Role::head;
      case Role::vision:
        return checkpoint_.loads_vision && rank_.first_stage;
      case Role::audio:
        return (checkpoint_.loads_vision || !checkpoint_.model.vision) && rank_.first_stage;
      case Role::embedding:
        return !checkpoint_.shares_embedding &&
               (rank_.first_stage || (rank_.last_stage && checkpoint_.model.tied_embeddings));
      case Role::head:
        return rank_.last_stage && !checkpoint_.model.tied_embeddings;
      case Role::other:
        if (tensor.layer < 0 && repack_.host_tables && elements(tensor) > kLump) return false;
        return tensor.layer < 0 ? rank_.last_stage : rank_.holds(tensor.layer);
      default:
        return tensor.layer < 0 ? rank_.last_stage : rank_.holds(tensor.layer);
    }
  }

  // GPTQ kernels keep neither the constant zero points of a symmetric checkpoint nor an order that is the natural one.
  bool dropped(const Tensor& tensor, const ParamName& name) const {
    const models::WeightFormat& base = checkpoint_.model.quantization.base;
    if (name.kind == ParamKind::order) return !base.act_order || tensor.dtype == DType::i64;
    return name.kind == ParamKind::zero_point && base.layout == "gptq" && base.symmetric;
  }

  // Extent of the expert axis of this entry; 0 when it does not depend on the number of experts.
  std::int64_t expert_extent(const Tensor& tensor) const {
    // An entry of some experts only (a tier of a mixed checkpoint) counts by its share of all.
    if (!tensor.expert_ids.empty()) return std::max(tensor.count(), moe_ ? moe_->experts : 0);
    const Role role = acting_role(tensor);
    if (moe_ == nullptr || (role != Role::expert && role != Role::router) || tensor.shape.empty()) return 0;
    return tensor.shape.front() == moe_->experts ? moe_->experts : 0;
  }

  static bool packed_int4(const Tensor& tensor, const ParamName& name) {
    return name.kind == ParamKind::weight && (tensor.dtype == DType::i32 || tensor.dtype == DType::u32);
  }

  std::int64_t divisor(const Tensor& tensor, const ParamName& name, Role role) const {
    const std::int64_t whole = role == Role::expert ? divisors_.experts : divisors_.tp;
    const std::size_t own_axes = tensor.shape.size() - (stacked(tensor) ? 1 : 0);
    switch (name.split) {
      case Split::replicated:
        return role == Role::vision && tensor.shape.size() == 1 && tensor.shape.front() > kLump ? whole : 1;
      case Split::kv_heads:
        return role == Role::attention ? divisors_.kv : whole;
      case Split::row:
        if (name.kind == ParamKind::bias) return 1;
        if (name.kind != ParamKind::weight && (own_axes < 2 || tensor.shape.back() == 1)) return 1;
        return whole;
      case Split::column:
      case Split::vocabulary:
        return own_axes == 0 || elements(tensor) <= 2 ? 1 : whole;
    }
    return 1;
  }

  bool stacked(const Tensor& tensor) const { return tensor.expert_ids.empty() && expert_extent(tensor) > 0; }

  static std::int64_t elements(const Tensor& tensor) {
    std::int64_t out = 1;
    for (const std::int64_t extent : tensor.shape) out = profiles::checked_mul(out, extent);
    return out;
  }

  // Bytes on this rank of all the entry's experts together (or of the one tensor).
  std::int64_t rank_bytes(const Tensor& tensor, const ParamName& name, Role role, bool sliced) const {
    std::int64_t values = profiles::checked_mul(elements(tensor), tensor.count());
    if (name.split == Split::vocabulary && tensor.shape.size() >= 2) {
      values = values / tensor.shape.front() * round_up(tensor.shape.front(), repack_.vocabulary_multiple);
    }
    values = cdiv(values, sliced ? 1 : divisor(tensor, name, role));
    const std::int64_t wide = role == Role::router && tensor.shape.size() == 2 ? repack_.router_bits : 0;
    std::int64_t bytes = cdiv(values * (wide > 0 ? wide : bits_after_load(tensor, name)), 8);
    if (name.kind == ParamKind::scale) bytes = scale_bytes(tensor, name, values, bytes);
    return role == Role::expert ? padded_expert(bytes, name) : bytes;
  }

  int bits_after_load(const Tensor& tensor, const ParamName& name) const {
    const bool plain = is_float(tensor.dtype) && name.kind != ParamKind::scale && name.kind != ParamKind::zero_point;
    return plain ? profiles::bits(settings_.dtype) : profiles::bits(tensor.dtype);
  }

  std::int64_t scale_bytes(const Tensor& tensor, const ParamName& name, std::int64_t values, std::int64_t bytes) const {
    const models::WeightFormat& base = checkpoint_.model.quantization.base;
    const bool block = base.format == models::Format::fp8_block && tensor.shape.size() >= 2 && tensor.shape.back() > 1 &&
                       name.parameter.ends_with("weight_scale_inv");
    if (!block) return bytes;
    return repack_.fp8_block_scale_bytes > 0 ? values * repack_.fp8_block_scale_bytes : values * 4;  // float32 in the engine
  }

  // Kernels that need whole tiles: hidden and expert widths are rounded up, values always, scales where the row says so.
  std::int64_t padded_expert(std::int64_t bytes, const ParamName& name) const {
    if (moe_ == nullptr || moe_->intermediate <= 0) return bytes;
    if (name.kind == ParamKind::bias || (name.kind == ParamKind::scale && !repack_.pads_scales)) return bytes;
    const std::int64_t hidden = moe_->latent > 0 ? moe_->latent : checkpoint_.model.hidden;
    const std::int64_t inter = cdiv(moe_->intermediate, divisors_.experts);
    const double factor = static_cast<double>(round_up(hidden, repack_.hidden_multiple)) / static_cast<double>(hidden) *
                          static_cast<double>(round_up(inter, repack_.inter_multiple)) / static_cast<double>(inter);
    return factor == 1.0 ? bytes : static_cast<std::int64_t>(static_cast<double>(bytes) * factor);
  }

  const Checkpoint& checkpoint_;
  const Settings& settings_;
  const Rank& rank_;
  Repack repack_;
  Divisors divisors_;
  const models::Moe* moe_ = nullptr;
  bool sliced_ = false;  // some tensors are cut for ranks already
  std::unordered_map<std::string, EngineTensor> parameters_;
};

}  // namespace

std::int64_t padded_vocabulary(std::int64_t vocab, const Rules& rules, const Traits& traits) {
  return round_up(vocab, rules.pick("vocabulary_padding", traits).count("multiple"));
}

std::vector<EngineTensor> engine_tensors(const Checkpoint& checkpoint, const Question& question, const Settings& settings,
                                         const Traits& traits, const Rank& rank) {
  Loader loader(checkpoint, question, settings, traits, rank);
  for (const Tensor& tensor : checkpoint.inventory.tensors) loader.add(tensor);
  return loader.take();
}

}  // namespace kvfit::planner
