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

std::optional<Refusal> expert_parallel(const Question& question) {
  if (!question.serving.enable_expert_parallel || models::expert_count(question.model) > 0) return std::nullopt;
  return Refusal{.id = "expert_parallel",
                 .need = 1,
                 .have = 0,
                 .text = "expert parallelism is asked for, and the model has no experts",
                 .remedy = "leave --enable-expert-parallel out"};
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

std::optional<Refusal> quantization(const Question& question, const Traits& traits) {
  const Row* row = question.rules->find("online_quantization", traits);
  if (row == nullptr || row->words.count("refused") == 0) return std::nullopt;
  return Refusal{.id = "quantization",
                 .need = 1,
                 .have = 0,
                 .text = format("--quantization {} {}", question.serving.quantization, row->word("refused")),
                 .remedy = "leave it out, or name the quantised checkpoint"};
}

}  // namespace

std::vector<Refusal> refusals(const Question& question, const Settings& settings, const Traits& traits) {
  std::vector<Refusal> out;
  for (std::optional<Refusal> one :
       {quantization(question, traits), dtype(question, settings, traits), expert_parallel(question), batch(settings),
        heads(question, settings), kv_heads(question, settings), expert_blocks(question, settings, traits)}) {
    if (one) out.push_back(std::move(*one));
  }
  return out;
}

}  // namespace kvfit::planner
