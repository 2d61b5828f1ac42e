#include "planner/checks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "planner/verdict.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::planner {
namespace {

using profiles::format;
using profiles::gib_text;
using profiles::grouped;

Bytes scaled(Bytes b, double factor) { return Bytes(std::llround(static_cast<double>(b.count) * factor)); }

Check make(const char* id, Check::Kind kind, Bytes need, Bytes have, Bytes error, double bar) {
  Check check;
  check.id = id;
  check.kind = kind;
  check.need = need;
  check.have = have;
  check.error = scaled(error, bar);
  judge(check);
  return check;
}

// A check that counts; need, have and bar are also kept in bytes (`unit` of one) so that it compares with the others.
Check make_count(const char* id, std::int64_t need, std::int64_t have, Bytes unit, Bytes error, double bar) {
  Check check = make(id, Check::Kind::boot, need * unit, have * unit, error, bar);
  check.need_count = need;
  check.have_count = have;
  return check;
}

// What the total's uncertainty does to a difference of free memory and a share of the total: only the rest of the share is
// left.
Bytes start_error(const Numbers& n, const StageNumbers& stage) {
  const double rest = 1.0 - n.settings.gpu_memory_utilization;
  return quadrature({scaled(n.total_error, rest), n.free_error, stage.sums.before_engine.error});
}

const StageNumbers& tightest(const Numbers& n) {
  return *std::min_element(n.stages.begin(), n.stages.end(), [](const StageNumbers& a, const StageNumbers& b) {
    return a.checked - a.needed < b.checked - b.needed;
  });
}

// What a token takes in the cache, rounded up: the measure of checks that count tokens.
Bytes token_bytes(const Numbers& n) {
  const std::int64_t block = std::max<std::int64_t>(n.kv.block_size, 1);
  return Bytes((n.kv.bytes_per_block.count + block - 1) / block);
}

// Weights, then the profile run on top of them, then (where graphs are estimated) a throw-away cache in the peak's place.
void loading_checks(const Numbers& n, double bar, std::vector<Check>& out) {
  const StageNumbers& heavy = *std::max_element(n.stages.begin(), n.stages.end(), [](const auto& a, const auto& b) {
    return a.sums.weights.bytes < b.sums.weights.bytes;
  });
  const Bytes free = n.free_at_start - heavy.sums.before_engine.bytes;
  if (n.start_checked) out.push_back(make("free_memory", Check::Kind::boot, n.requested, free, start_error(n, heavy), bar));
  out.push_back(make("weights", Check::Kind::boot, heavy.sums.weights.bytes, free,
                     quadrature({heavy.sums.weights.error, n.total_error, n.free_error}), bar));
  const Bytes held = heavy.sums.weights.bytes + heavy.sums.non_torch.bytes;
  const Bytes error = quadrature({heavy.sums.budgeted_error(), n.total_error, n.free_error});
  out.push_back(make("profile_run", Check::Kind::boot, held + heavy.sums.activation.bytes, free, error, bar));
  if (heavy.profiling_cache.count > 0) {
    out.push_back(make("graph_profiling", Check::Kind::boot, held + heavy.profiling_cache, free, error, bar));
  }
}

void boot_checks(const Numbers& n, double bar, std::vector<Check>& out) {
  for (const Refusal& one : n.refused) {
    out.push_back(make_count(one.id.c_str(), one.need, one.have, Bytes(1), Bytes(0), bar));
    out.back().text = format("refuses to start: {}", one.text);
    out.back().remedy = one.remedy;
  }
  if (n.length_limit > 0 && n.settings.max_model_len > n.length_limit) {
    out.push_back(make_count("model_length", n.settings.max_model_len, n.length_limit, token_bytes(n), Bytes(0), bar));
  }
  loading_checks(n, bar, out);
  const StageNumbers& tight = tightest(n);
  if (n.blocks_override > 0) {
    // the pool is what was asked for, whatever is left
    const Bytes pool = Bytes(n.kv.bytes_per_block) * n.blocks_override;
    out.push_back(make("kv_one_request", Check::Kind::boot, tight.needed, pool, Bytes(0), bar));
  } else {
    out.push_back(make("kv_blocks", Check::Kind::boot, tight.available - tight.checked + Bytes(1), tight.available,
                       tight.available_error, bar));
    out.push_back(make("kv_one_request", Check::Kind::boot, tight.needed, tight.checked, tight.available_error, bar));
  }
  if (n.sequence_limit > 0) {
    out.push_back(make_count("mamba_blocks", n.settings.max_num_seqs, n.sequence_limit, n.kv.bytes_per_block,
                             tight.available_error, bar));
  }
  if (n.batch_at_least > 0) {
    out.push_back(
        make_count("align_block", n.batch_at_least, n.settings.max_num_batched_tokens, token_bytes(n), Bytes(0), bar));
  }
}

// The engine has taken its whole budget by then; a pool smaller than the budget (an override) leaves the rest free. A pool
// takes up the errors of what was budgeted; where there is none, they reach the margin.
void run_check(const Numbers& n, double bar, std::vector<Check>& out) {
  // Versions without the start-up check charge the context to the budget, so all of the device is there for it.
  const Bytes start = n.start_checked ? n.free_at_start : n.total;
  const StageNumbers* worst = nullptr;
  Bytes worst_margin(std::numeric_limits<std::int64_t>::max());
  Bytes worst_need;
  for (const StageNumbers& stage : n.stages) {
    const Bytes pool = n.kv.bytes_per_block * std::max<std::int64_t>(n.kv.num_gpu_blocks, 0);
    const Bytes need = stage.sums.budgeted() + pool + stage.sums.outside.bytes;
    const Bytes margin = start - stage.sums.before_engine.bytes - need;
    if (margin < worst_margin) {
      worst = &stage;
      worst_margin = margin;
      worst_need = need;
    }
  }
  const Bytes have = start - worst->sums.before_engine.bytes;
  const Bytes budgeted = n.kv.num_gpu_blocks > 0 ? Bytes(0) : worst->sums.budgeted_error();
  out.push_back(make("run", Check::Kind::run, worst_need, have,
                     quadrature({start_error(n, *worst), worst->sums.outside.error, budgeted}), bar));
}

std::string outcome(const Check& check, const std::string& yes, const std::string& no) {
  return check.verdict == Verdict::does_not_fit ? no : yes;
}

std::string sentence(const Check& check, const Numbers& n) {
  const std::string need = gib_text(check.need);
  const std::string have = gib_text(check.have);
  const std::int64_t need_count = check.need_count.value_or(0);
  const std::int64_t have_count = check.have_count.value_or(0);
  if (check.id == "free_memory") {
    return outcome(check, format("{} of the device is free for the {} the engine asks for", have, need),
                   format("refuses to start: {} is free, {} is asked for", have, need));
  }
  if (check.id == "weights") {
    return outcome(check, "the weights load", format("out of memory while loading: {} of weights, {} free", need, have));
  }
  if (check.id == "profile_run") {
    return outcome(check, "the profile run fits beside the weights",
                   format("out of memory in the profile run: {} needed, {} free", need, have));
  }
  if (check.id == "graph_profiling") {
    return outcome(check, "the throw-away cache for the CUDA graph estimate fits",
                   format("out of memory while profiling CUDA graphs: {} needed, {} free", need, have));
  }
  if (check.id == "kv_blocks") {
    return outcome(check, format("{} is left for the KV cache", have),
                   format("refuses to start: no available memory for the cache blocks ({})", have));
  }
  if (check.id == "kv_one_request") {
    if (n.settings.auto_max_model_len) {
      return outcome(check, format("the engine chooses the length: {} tokens", grouped(n.settings.max_model_len)),
                     format("refuses to start: not one block of {} fits into {}", need, have));
    }
    return outcome(
        check, format("one request of {} tokens needs {}", grouped(n.settings.max_model_len), need),
        format("refuses to start: one request of {} tokens needs {} of KV cache, {} is available; estimated maximum "
               "length {}",
               grouped(n.settings.max_model_len), need, have, grouped(n.kv.estimated_max_len)));
  }
  if (check.id == "mamba_blocks") {
    return outcome(
        check, format("{} state blocks for {} sequences", have_count, need_count),
        format("refuses to start: max_num_seqs ({}) exceeds available Mamba cache blocks ({})", need_count, have_count));
  }
  if (check.id == "model_length") {
    return format(
        "refuses to start: max_model_len ({}) is greater than the model's {}; VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 lifts it",
        need_count, have_count);
  }
  if (check.id == "align_block") {
    return outcome(
        check, format("the batch of {} tokens holds an aligned block of {}", have_count, need_count),
        format("refuses to start: block_size ({}) must be <= max_num_batched_tokens ({})", need_count, have_count));
  }
  return outcome(check, format("under load {} of {} is used", need, have),
                 format("out of memory after the start: {} is used under load, {} is there", need, have));
}

}  // namespace

std::vector<Check> make_checks(const Numbers& numbers, double bar) {
  std::vector<Check> out;
  out.reserve(8);
  boot_checks(numbers, bar, out);
  run_check(numbers, bar, out);
  return out;
}

void describe(std::vector<Check>& checks, const Numbers& numbers) {
  for (Check& check : checks) {
    if (check.text.empty()) check.text = sentence(check, numbers);
  }
}

}  // namespace kvfit::planner
