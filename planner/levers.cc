#include "planner/levers.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/checks.h"
#include "planner/gates.h"
#include "planner/verdict.h"
#include "profiles/text.h"

namespace kvfit::planner {
namespace {

using profiles::format;
using profiles::grouped;

// One concession: what it is called, and the question and point with it made; nullopt where it does not apply.
struct Concession {
  std::string id, text;
  Question question;
  Point point;
};

struct Context {
  const Question& question;
  const Settings& settings;
  Point point;
  const Bounds& bounds;
};

std::optional<std::int64_t> next_lower(const std::vector<std::int64_t>& values, std::int64_t value) {
  const std::vector<std::int64_t>::const_iterator at = std::lower_bound(values.begin(), values.end(), value);
  return at == values.begin() ? std::nullopt : std::optional<std::int64_t>(*(at - 1));
}

Concession keep(const Context& c, std::string id, std::string text) {
  return {.id = std::move(id), .text = std::move(text), .question = c.question, .point = c.point};
}

std::optional<Concession> vision_off(const Context& c) {
  if (!c.settings.vision) return std::nullopt;
  Concession out = keep(c, "vision_off", "vision tower not loaded");
  out.question.serving.language_model_only = true;
  return out;
}

std::optional<Concession> draft_off(const Context& c) {
  if (c.settings.speculative_tokens == 0) return std::nullopt;
  Concession out = keep(c, "mtp_off", format("no speculative decoding ({} off)", c.settings.speculative_method));
  out.question.serving.speculative.reset();
  return out;
}

std::optional<Concession> kv_fp8(const Context& c) {
  if (c.settings.kv_cache_dtype != "bf16" && c.settings.kv_cache_dtype != "fp16") return std::nullopt;
  Concession out = keep(c, "kv_fp8", "KV cache in fp8");
  out.question.serving.kv_cache_dtype = "fp8";
  for (const hardware::Gate& gate : gates_of(out.question, c.settings)) {
    if (gate.verdict == hardware::GateVerdict::refused) return std::nullopt;
  }
  return out;
}

std::optional<Concession> fewer_sequences(const Context& c) {
  if (c.point.max_num_seqs <= 1) return std::nullopt;
  const std::int64_t half = c.point.max_num_seqs / 2;
  Concession out =
      keep(c, "fewer_sequences", format("{} sequence{} instead of {}", half, half == 1 ? "" : "s", c.point.max_num_seqs));
  out.point.max_num_seqs = half;
  return out;
}

std::optional<Concession> smaller_batch(const Context& c) {
  constexpr std::int64_t kSmallest = 512;
  const std::int64_t half = c.settings.max_num_batched_tokens / 2;
  if (half < kSmallest) return std::nullopt;
  Concession out =
      keep(c, "smaller_batch", format("max_num_batched_tokens {} instead of {}", grouped(half), grouped(2 * half)));
  out.question.serving.max_num_batched_tokens = half;
  return out;
}

std::optional<Concession> fewer_experts(const Context& c) {
  const std::optional<std::int64_t> lower = next_lower(c.bounds.experts, c.point.experts);
  if (c.point.experts == 0 || !lower) return std::nullopt;
  Concession out = keep(c, "fewer_experts", format("{} experts instead of {}", *lower, c.point.experts));
  out.point.experts = *lower;
  return out;
}

std::optional<Concession> shorter_context(const Context& c) {
  constexpr std::int64_t kShortest = 4096;
  const std::int64_t half = c.point.max_model_len / 2;
  const std::int64_t limit = c.question.model.max_position;
  const std::int64_t shorter = limit > 0 && limit < c.point.max_model_len ? limit : half;
  if (shorter < kShortest) return std::nullopt;
  Concession out =
      keep(c, "shorter_context", format("context {} instead of {}", grouped(shorter), grouped(c.point.max_model_len)));
  out.point.max_model_len = shorter;
  return out;
}

std::optional<Concession> no_graphs(const Context& c) {
  if (c.settings.eager) return std::nullopt;
  Concession out = keep(c, "eager", "no CUDA graphs (--enforce-eager; slower decoding)");
  out.question.serving.enforce_eager = true;
  return out;
}

std::optional<Concession> lower_utilization(const Context& c) {
  const double lower = c.point.utilization - 0.02;
  if (lower < 0.5) return std::nullopt;
  Concession out = keep(c, "lower_utilization", format("utilisation {:.2f} instead of {:.2f}", lower, c.point.utilization));
  out.point.utilization = lower;
  return out;
}

Bytes margin_of(const std::vector<Check>& checks, const std::string& id) {
  for (const Check& check : checks) {
    if (check.id == id) return check.margin();
  }
  return Bytes(0);
}

// Gain of the one-request margin or of the binding one, whichever is larger.
Bytes gain(const std::vector<Check>& before, const std::vector<Check>& after, const std::string& binding) {
  const auto difference = [&](const std::string& id) { return margin_of(after, id) - margin_of(before, id); };
  return std::max(difference("kv_one_request"), difference(binding));
}

// Twice, four or eight times as many GPUs, all in one tensor-parallel group: the fewest that fit.
std::optional<Lever> more_gpus(const Context& c, const std::vector<Check>& before, double bar) {
  constexpr std::int64_t kMost = 8;
  const std::int64_t now = c.settings.tp;
  if (c.question.node.count != now || c.question.node.gpu.unified) return std::nullopt;
  for (std::int64_t gpus = 2 * now; gpus <= kMost; gpus *= 2) {
    Question question = c.question;
    question.node.count = static_cast<int>(gpus);
    question.node.link = question.node.gpu.nvlink.value > 0 ? hardware::Link::nvlink : hardware::Link::pcie;
    question.serving.tensor_parallel_size = gpus;
    const std::vector<Check> checks = make_checks(Evaluator(std::move(question)).numbers(c.point), bar);
    if (binding_check(checks)->verdict != Verdict::fits) continue;
    return Lever{.id = "more_gpus",
                 .text = format("{} GPUs instead of {} (--gpus {})", gpus, now, gpus),
                 .frees = gain(before, checks, binding_check(before)->id),
                 .verdict = Verdict::fits};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Lever> levers_of(const Evaluator& evaluator, const Point& point, const Bounds& bounds) {
  constexpr std::optional<Concession> (*kAll[])(const Context&) = {vision_off,    draft_off,       kv_fp8,
                                                                   fewer_experts, shorter_context, fewer_sequences,
                                                                   smaller_batch, no_graphs,       lower_utilization};
  const double bar = bar_factor(evaluator.question().confidence);
  const Numbers here = evaluator.numbers(point);
  const std::vector<Check> before = make_checks(here, bar);
  const std::string binding = binding_check(before)->id;
  const Context context{.question = evaluator.question(), .settings = here.settings, .point = point, .bounds = bounds};
  std::vector<Lever> out;
  for (std::optional<Concession> (*make)(const Context&) : kAll) {
    std::optional<Concession> concession = make(context);
    if (!concession) continue;
    const Evaluator other(std::move(concession->question), evaluator);
    const std::vector<Check> after = make_checks(other.numbers(concession->point), bar);
    const Bytes frees = gain(before, after, binding);
    if (frees.count <= 0) continue;
    out.push_back(
        {.id = concession->id, .text = concession->text, .frees = frees, .verdict = binding_check(after)->verdict});
  }
  if (binding_check(before)->verdict == Verdict::does_not_fit) {
    if (std::optional<Lever> more = more_gpus(context, before, bar)) out.push_back(std::move(*more));
  }
  std::sort(out.begin(), out.end(),
            [](const Lever& a, const Lever& b) { return a.frees != b.frees ? a.frees > b.frees : a.id < b.id; });
  return out;
}

}  // namespace kvfit::planner
