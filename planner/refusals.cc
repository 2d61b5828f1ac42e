#include "planner/refusals.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "profiles/text.h"

namespace kvfit::planner {
namespace {

using models::Attention;
using profiles::cdiv;
using profiles::format;
using profiles::grouped;

// "1, 2, 5": the sizes below `ranks` that would do.
template <typename Good>
std::string sizes_below(std::int64_t ranks, const Good& good) {
  std::vector<std::string> out;
  for (std::int64_t n = 1; n < ranks; ++n) {
    if (good(n)) out.push_back(format("{}", n));
  }
  return format("{}", profiles::join(out, ", "));
}

bool divides(std::int64_t heads, std::int64_t ranks) { return heads >= ranks ? heads % ranks == 0 : ranks % heads == 0; }

// The engine shards whole query heads.
std::optional<Refusal> heads(const Question& question, const Settings& settings) {
  for (const models::Layer& layer : question.model.layers) {
    const std::int64_t heads = layer.attention ? layer.attention->heads : 0;
    if (heads % settings.tp == 0) continue;
    return Refusal{.id = "heads",
                   .need = cdiv(heads, settings.tp) * settings.tp,
                   .have = heads,
                   .text = format("{} attention heads do not divide over {} ranks", heads, settings.tp),
                   .remedy = format("tensor parallel sizes that divide them: {}",
                                    sizes_below(settings.tp, [heads](std::int64_t n) { return heads % n == 0; }))};
  }
  return std::nullopt;
}

std::optional<Refusal> kv_heads(const Question& question, const Settings& settings) {
  for (const models::Layer& layer : question.model.layers) {
    if (!layer.attention || layer.attention->kind == Attention::Kind::mla || layer.attention->kv_heads <= 0) continue;
    const std::int64_t heads = layer.attention->kv_heads;
    if (divides(heads, settings.tp)) continue;
    return Refusal{.id = "kv_heads",
                   .need = cdiv(heads, settings.tp) * settings.tp,
                   .have = heads,
                   .text = format("{} key-value heads do not divide over {} ranks", heads, settings.tp),
                   .remedy = format("tensor parallel sizes that divide them: {}",
                                    sizes_below(settings.tp, [heads](std::int64_t n) { return divides(heads, n); }))};
  }
  return std::nullopt;
}

// Experts quantised in tiles are sharded in whole tiles. With expert parallelism they are not sharded at all.
std::optional<Refusal> expert_blocks(const Question& question, const Settings& settings, const Traits& traits) {
  const std::int64_t ranks = settings.tp * settings.dp;
  const std::int64_t rows = question.model.quantization.base.block_rows;
  const bool tiles = std::get<std::string>(traits.at("expert_format")) == "fp8_block" && rows > 0;
  if (!tiles || settings.expert_parallel > 1) return std::nullopt;
  for (const models::Layer& layer : question.model.layers) {
    if (!layer.moe || layer.moe->intermediate % ranks != 0) continue;
    const std::int64_t width = layer.moe->intermediate;
    const auto whole = [width, rows](std::int64_t n) { return width % n == 0 && width / n % rows == 0; };
    if (whole(ranks)) continue;
    return Refusal{.id = "expert_blocks",
                   .need = cdiv(width / ranks, rows) * rows,
                   .have = width / ranks,
                   .text = format("over {} ranks an expert's {} rows become {}, which blocks of {} do not divide", ranks,
                                  grouped(width), grouped(width / ranks), rows),
                   .remedy = format("--enable-expert-parallel, or a tensor parallel size of {}", sizes_below(ranks, whole))};
  }
  return std::nullopt;
}

std::optional<Refusal> batch(const Settings& settings) {
  if (settings.max_num_batched_tokens >= settings.max_num_seqs) return std::nullopt;
  return Refusal{.id = "batch",
                 .need = settings.max_num_seqs,
                 .have = settings.max_num_batched_tokens,
                 .text = format("max_num_batched_tokens ({}) must be greater than or equal to max_num_seqs ({})",
                                settings.max_num_batched_tokens, settings.max_num_seqs),
                 .remedy = format("--max-num-seqs {}, or a larger batch", settings.max_num_batched_tokens)};
}

std::optional<Refusal> expert_parallel(const Question& question, const Settings& settings) {
  const Serving& serving = question.serving;
  Refusal out{.id = "expert_parallel", .need = 1, .have = 0};
  if (serving.enable_expert_parallel && models::expert_count(question.model) == 0) {
    out.text = "expert parallelism is asked for, and the model has no experts";
    out.remedy = "leave --enable-expert-parallel out";
  } else if (serving.enable_eplb && !serving.enable_expert_parallel) {
    out.text = "experts are balanced between ranks (--enable-eplb) only with expert parallelism";
    out.remedy = "--enable-expert-parallel, or leave --enable-eplb out";
  } else if (serving.enable_eplb && settings.tp * settings.dp < 2) {
    out.text = "experts are balanced between ranks (--enable-eplb), and there is one";
    out.remedy = "leave --enable-eplb out";
  } else if (serving.num_redundant_experts > 0 && !serving.enable_eplb) {
    out.text = format("{} redundant experts are asked for without --enable-eplb", serving.num_redundant_experts);
    out.remedy = "--enable-eplb, or no redundant experts";
  }
  return out.text.empty() ? std::nullopt : std::optional<Refusal>(out);
}

// Ranks that hold the same key-value head share the tokens: more of them than copies of a head there cannot be.
std::optional<Refusal> context_ranks(const Question& question, const Settings& settings) {
  for (const models::Layer& layer : question.model.layers) {
    if (settings.dcp < 2 || !layer.attention || layer.attention->kind == Attention::Kind::mla) continue;
    const std::int64_t copies = settings.tp / std::max<std::int64_t>(layer.attention->kv_heads, 1);
    if (copies >= settings.dcp) continue;
    return Refusal{
        .id = "context_parallel",
        .need = settings.dcp,
        .have = copies,
        .text = format("decode context parallel size {} needs as many copies of each of the {} key-value heads, {} "
                       "ranks hold {}",
                       settings.dcp, layer.attention->kv_heads, settings.tp, copies),
        .remedy = copies > 1 ? format("--dcp {}", copies) : "leave --dcp out"};
  }
  return std::nullopt;
}

// A release that is older than the architecture; table `architecture_since`.
std::optional<Refusal> architecture(const Question& question, const Traits& traits) {
  const Row* row = question.rules->find("architecture_since", traits);
  if (row == nullptr) return std::nullopt;
  return Refusal{.id = "architecture",
                 .need = 1,
                 .have = 0,
                 .text = format("{} {} does not know the architecture {}, which came with {}", question.rules->engine(),
                                question.rules->version().text, question.model.family, row->word("release")),
                 .remedy = format("{} {} or newer", question.rules->engine(), row->word("release"))};
}

std::optional<Refusal> dtype(const Question& question, const Settings& settings, const Traits& traits) {
  const Row* row = question.rules->find("dtype_refused", traits);
  if (row == nullptr) return std::nullopt;
  return Refusal{.id = "dtype",
                 .need = 1,
                 .have = 0,
                 .text = format("{} {}", profiles::torch_name(settings.dtype), row->word("reason")),
                 .remedy = row->word("remedy")};
}

// A method other than the checkpoint's own: kernels may be chosen by name (table `quantization_override`), formats may not.
std::optional<Refusal> quantization(const Question& question, const Traits& traits) {
  const std::string& stated = question.serving.quantization;
  const std::string& stored = std::get<std::string>(traits.at("method"));
  Refusal out{.id = "quantization", .need = 1, .have = 0, .remedy = "leave it out, or name the quantised checkpoint"};
  if (const Row* row = question.rules->find("online_quantization", traits); row != nullptr && row->words.count("refused")) {
    out.text = format("--quantization {} {}", stated, row->word("refused"));
    return out;
  }
  if (stated.empty() || stated == stored || stored == "none" || question.model.quantised_while_loading ||
      question.rules->find("quantization_override", traits) != nullptr) {
    return std::nullopt;
  }
  out.text = format("the checkpoint's quantisation method ({}) does not match --quantization {}", stored, stated);
  out.remedy = "leave --quantization out";
  return out;
}

}  // namespace

std::vector<Refusal> refusals(const Question& question, const Settings& settings, const Traits& traits) {
  std::vector<Refusal> out;
  for (std::optional<Refusal> one :
       {architecture(question, traits), quantization(question, traits), dtype(question, settings, traits),
        expert_parallel(question, settings), batch(settings), heads(question, settings), kv_heads(question, settings),
        context_ranks(question, settings), expert_blocks(question, settings, traits)}) {
    if (one) out.push_back(std::move(*one));
  }
  return out;
}

}  // namespace kvfit::planner
