#include "planner/activation.h"

#include <algorithm>
#include <cmath>

#include "planner/engine_tensors.h"
#include "profiles/units.h"

namespace kvfit::planner {
namespace {

using models::Attention;
using models::Layer;
using models::Model;

std::int64_t whole(double bytes) { return std::llround(bytes); }

// Elements a token that a layer's mixer holds at once beside the residual stream, on one rank.
double mixer_elements(const Layer& layer, std::int64_t tp) {
  const double ranks = static_cast<double>(tp);
  double out = 0;
  if (layer.recurrent) {
    const models::Recurrent& r = *layer.recurrent;
    const std::int64_t value = r.inner > 0 ? r.inner : r.v_heads * r.v_dim;
    const std::int64_t key = r.inner > 0 ? r.k_heads * r.k_dim : 2 * r.k_heads * r.k_dim;
    out = static_cast<double>(3 * value + 2 * key) / ranks;
  }
  if (layer.attention) {
    const Attention& a = *layer.attention;
    const std::int64_t query = a.heads * a.head_dim * (a.output_gate ? 2 : 1);
    const std::int64_t kv = a.kv_heads * (a.head_dim + a.head_dim_v);
    out = std::max(out, static_cast<double>(query + kv + a.heads * a.head_dim_v) / ranks);
  }
  return out;
}

struct Width {
  double mixer = 0;  ///< elements a token
  double inter = 0;  ///< widest feed-forward on this rank
};

Width widest(const Model& model, const Settings& settings, const Rank& rank) {
  Width out;
  for (std::int64_t i = rank.first_layer; i < rank.end_layer; ++i) {
    const Layer& layer = model.layers[static_cast<std::size_t>(i)];
    out.mixer = std::max(out.mixer, mixer_elements(layer, settings.tp));
    std::int64_t inter = layer.dense ? layer.dense->intermediate : 0;
    if (layer.moe) inter = std::max(inter, layer.moe->shared_intermediate);
    out.inter = std::max(out.inter, static_cast<double>(inter) / static_cast<double>(settings.tp));
  }
  return out;
}

const models::Moe* any_moe(const Model& model, const Rank& rank) {
  for (std::int64_t i = rank.first_layer; i < rank.end_layer; ++i) {
    const Layer& layer = model.layers[static_cast<std::size_t>(i)];
    if (layer.moe) return &*layer.moe;
  }
  return nullptr;
}

// Bytes a token of the two workspaces of the modular fused-expert kernels.
double expert_workspace(const models::Moe& moe, std::int64_t hidden, const Settings& settings, double copies) {
  const double width = static_cast<double>(moe.latent > 0 ? moe.latent : hidden);
  const double split = settings.expert_parallel > 1 ? 1.0 : static_cast<double>(settings.tp);
  const double inter = static_cast<double>(moe.intermediate) / split;
  const double up = moe.gated ? 2 * inter : inter;
  return copies * static_cast<double>(moe.top_k) * (std::max(inter, width) + std::max(up, width));
}

}  // namespace

std::int64_t ActivationModel::Parts::peak() const {
  return std::max(encoder, encoder_outputs + std::max(forward, sampler)) + std::max(experts, index) + gemm + latent;
}

const char* ActivationModel::Parts::largest() const {
  if (encoder > encoder_outputs + std::max(forward, sampler)) return "encoder";
  return forward > sampler ? "forward" : "sampler";
}

ActivationModel::ActivationModel(const Question& question, const Settings& settings, const Traits& traits, const Rank& rank)
    : vocab_(padded_vocabulary(question.model.vocab, *question.rules, traits)),
      hidden_(question.model.hidden),
      processors_(question.node.gpu.sm_count.value),
      element_(profiles::bits(settings.dtype) / 8),
      samples_(rank.last_stage) {
  read_sampler(question, settings, traits);
  read_forward(question, settings, traits, rank);
  if (settings.vision && question.model.vision && rank.first_stage && !question.serving.skip_mm_profiling) {
    read_encoder(*question.model.vision, *question.rules, settings, traits);
  }
  const Row& gemm = question.rules->pick("gemm_workspace", traits);
  gemm_ = gemm.count("bytes");
  const Row& bar = question.rules->pick("activation_error", traits);
  relative_error_ = bar.value("relative");
  fixed_error_ = bar.count("bytes");
}

void ActivationModel::read_sampler(const Question& question, const Settings& settings, const Traits& traits) {
  const Row& row = question.rules->pick("sampler_peak", traits);
  bytes_per_logit_ = row.value("bytes_per_logit") + static_cast<double>(element_);
  if (settings.speculative_tokens > 0) bytes_per_logit_ += row.value_or("speculative_bytes_per_logit", 0);
  bytes_per_processor_logit_ = row.value_or("bytes_per_processor_logit", 0);
  sampler_error_ = row.error_of("bytes_per_logit");
  source_ = row.source;
}

void ActivationModel::read_forward(const Question& question, const Settings& settings, const Traits& traits,
                                   const Rank& rank) {
  const Row& row = question.rules->pick("forward_peak", traits);
  const Width width = widest(question.model, settings, rank);
  const double element = static_cast<double>(element_);
  const double hidden = row.value("hidden_copies") * static_cast<double>(hidden_) * element;
  const double inter = (row.value("intermediate_copies") * element + row.value_or("quantised_input_bytes", 0)) * width.inter;
  const double mixer = row.value("mixer_copies") * width.mixer * element;
  forward_per_token_ = hidden + std::max(inter, mixer);
  if (!rank.last_stage) forward_per_token_ += 2 * static_cast<double>(hidden_) * element;  // residual sent on
  if (const models::Moe* moe = any_moe(question.model, rank); moe != nullptr) {
    const Row& workspace = question.rules->pick("expert_workspace", traits);
    expert_per_token_ = expert_workspace(*moe, hidden_, settings, workspace.value("copies")) * element;
    if (workspace.value("copies") > 0) workspace_error_ = workspace.error_of("copies") / workspace.value("copies");
  }
  if (const Row* latent = question.rules->find("latent_workspace", traits); latent != nullptr) {
    latent_ = latent->count("bytes");
  }
  if (const Row* index = question.rules->find("index_workspace", traits); index != nullptr) {
    index_per_length_ = index->value("entries_per_position") * index->value("bytes_per_entry");
  }
}

void ActivationModel::read_encoder(const models::Vision& vision, const Rules& rules, const Settings& settings,
                                   const Traits& traits) {
  const Row* row = rules.find("encoder_peak", traits);
  if (row == nullptr || vision.max_item_tokens <= 0) return;
  encodes_ = true;
  item_tokens_ = vision.max_item_tokens;
  const std::int64_t merge = std::max<std::int64_t>(vision.merge, 1);
  // Towers with learned positions may pool what they see: as many patches as positions.
  const double patches = static_cast<double>(std::max(item_tokens_ * merge * merge, vision.position_rows));
  const double pixels = static_cast<double>(vision.channels * std::max<std::int64_t>(vision.temporal_patch, 1) *
                                            vision.patch * vision.patch * element_);
  const double widths =
      row->value("hidden_bytes") * static_cast<double>(vision.hidden) +
      row->value("intermediate_bytes") * static_cast<double>(vision.intermediate) / static_cast<double>(settings.tp);
  item_pixels_ = whole(patches * pixels * row->value_or("pixels", 1));
  item_encoder_ = whole(patches * widths);
  encoder_token_ = vision.out_hidden > 0 ? vision.out_hidden * element_ * (1 + vision.deepstack) : hidden_ * element_;
  encoder_error_ = row->error_of("hidden_bytes") / std::max(row->value("hidden_bytes"), 1.0);
}

ActivationModel::Parts ActivationModel::parts(const Settings& settings) const {
  const std::int64_t sequences = settings.max_num_seqs;
  const std::int64_t tokens = settings.max_num_batched_tokens;
  const double batch = static_cast<double>(tokens);
  Parts out;
  out.forward = whole(batch * forward_per_token_);
  if (samples_) {
    const double rows = static_cast<double>(std::min(sequences, tokens));
    const double logits = rows * bytes_per_logit_ + static_cast<double>(processors_) * bytes_per_processor_logit_;
    out.sampler = whole(logits * static_cast<double>(vocab_) + (batch + 2 * rows) * static_cast<double>(hidden_ * element_));
  }
  if (encodes_) {
    // An item larger than the context is scaled down to it: six boots of Qwen2-VL-2B at 1,024 to 8,192 tokens.
    const std::int64_t item = std::clamp<std::int64_t>(settings.max_model_len, 1, item_tokens_);
    const double part = static_cast<double>(item) / static_cast<double>(item_tokens_);
    const std::int64_t budget = std::max(tokens, item);
    const std::int64_t a_prompt = std::max<std::int64_t>(settings.max_model_len / item, 1);
    const std::int64_t items = std::max<std::int64_t>(std::min(budget / item, sequences * a_prompt), 1);
    const std::int64_t pixels = whole(part * static_cast<double>(item_pixels_));
    out.encoder_outputs = items * (item * encoder_token_ + pixels);
    out.encoder = items * (whole(part * static_cast<double>(item_encoder_)) + pixels);
  }
  out.experts = whole(batch * expert_per_token_);
  out.index = whole(static_cast<double>(settings.max_model_len) * index_per_length_);
  out.latent = latent_;
  out.gemm = gemm_;
  return out;
}

Amount ActivationModel::at(const Settings& settings) const {
  const Parts p = parts(settings);
  double bar = static_cast<double>(fixed_error_) + relative_error_ * static_cast<double>(p.peak());
  bar += workspace_error_ * static_cast<double>(p.experts);
  if (p.encoder > p.encoder_outputs + std::max(p.forward, p.sampler)) {
    bar += encoder_error_ * static_cast<double>(p.encoder);
  } else if (p.sampler >= p.forward) {
    bar += sampler_error_ * static_cast<double>(std::min(settings.max_num_seqs, settings.max_num_batched_tokens) * vocab_);
  }
  return {Bytes(p.peak()), Bytes(whole(bar))};
}

}  // namespace kvfit::planner
