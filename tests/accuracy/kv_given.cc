#include "tests/accuracy/kv_given.h"

#include <algorithm>
#include <cmath>

#include "profiles/units.h"

namespace kvfit::accuracy {

using planner::KvLayout;
using profiles::Bytes;

namespace {

constexpr double kTiny = 1e-9;

/// Pages retyped by hand round to thousands ("622,000 tokens"): zeros at the end hide half a unit of the last digit shown.
double hidden_by_zeros(std::int64_t tokens) {
  double unit = 1;
  std::int64_t rest = tokens;
  while (rest != 0 && rest % 10 == 0) {
    rest /= 10;
    unit *= 10;
  }
  return unit >= 1000 ? unit / 2 : 0;
}

bool near(double value, double printed, double slack) { return std::abs(value - printed) <= slack + kTiny; }

/// Do `blocks` explain every printed figure?
bool explains(const KvLayout& layout, const Measured& m, std::int64_t blocks, std::int64_t length, std::int64_t in_flight) {
  if (m.num_gpu_blocks && *m.num_gpu_blocks != blocks) return false;
  if (m.mamba_blocks && *m.mamba_blocks != blocks) return false;
  if (m.attention_block && layout.hybrid.block_size > 0 && *m.attention_block != layout.hybrid.block_size) return false;
  if (m.kv_tokens) {
    const double tokens = static_cast<double>(planner::printed_tokens(layout, blocks, length, in_flight));
    if (!near(tokens, static_cast<double>(*m.kv_tokens), hidden_by_zeros(*m.kv_tokens))) return false;
  }
  if (m.concurrency) {
    const double z = planner::max_concurrency(layout, blocks, length, in_flight);
    if (!near(z, m.concurrency->value, m.concurrency->half_step)) return false;
  }
  return true;
}

}  // namespace

std::optional<KvComparison> compare_capacity(const KvLayout& layout, const Measured& m, std::int64_t length,
                                             std::int64_t in_flight) {
  if (!m.available_kv || m.available_kv->value <= 0) return std::nullopt;
  if (!m.kv_tokens && !m.concurrency && !m.num_gpu_blocks && !m.mamba_blocks) return std::nullopt;
  KvComparison out;
  const std::int64_t middle = planner::pool_blocks(layout, profiles::from_gib(m.available_kv->value));
  if (m.kv_tokens) {
    out.what = "tokens";
    out.printed = static_cast<double>(*m.kv_tokens);
    out.predicted = static_cast<double>(planner::printed_tokens(layout, middle, length, in_flight));
  } else if (m.concurrency) {
    out.what = "concurrency";
    out.printed = m.concurrency->value;
    out.predicted = planner::max_concurrency(layout, middle, length, in_flight);
  } else {
    out.what = "blocks";
    out.printed = static_cast<double>(m.num_gpu_blocks ? *m.num_gpu_blocks : *m.mamba_blocks);
    out.predicted = static_cast<double>(middle);
  }
  const std::int64_t low = planner::pool_blocks(layout, profiles::from_gib(std::max(m.available_kv->low(), 0.0)));
  const std::int64_t high = planner::pool_blocks(layout, profiles::from_gib(m.available_kv->high()));
  for (std::int64_t blocks = low; blocks <= high && blocks - low < 200'000 && !out.exact; ++blocks) {
    out.exact = explains(layout, m, blocks, length, in_flight);
  }
  return out;
}

std::optional<KvComparison> compare_refusal(const KvLayout& layout, const Measured& m, std::int64_t length,
                                            std::int64_t in_flight) {
  const bool has_length = m.estimated_max_len && m.available_kv;
  if (!m.needed_kv && !has_length) return std::nullopt;
  KvComparison out;
  out.exact = true;
  if (m.needed_kv) {
    out.what = "needed KV";
    out.printed = m.needed_kv->value;
    out.predicted = profiles::to_gib(planner::kv_needed(layout, length, in_flight));
    out.exact = near(out.predicted, out.printed, m.needed_kv->half_step);
  }
  if (!has_length) return out;
  // The printed available memory is the one the engine compared with, so it is compared with the need as it stands. The
  // estimate is the last length of a step: it fits, and one token more does not.
  const std::int64_t printed = *m.estimated_max_len;
  const Bytes fits = planner::kv_needed(layout, printed, in_flight);
  const Bytes one_more = planner::kv_needed(layout, printed + 1, in_flight);
  const bool possible = fits < one_more && fits <= profiles::from_gib(m.available_kv->high()) &&
                        one_more > profiles::from_gib(std::max(m.available_kv->low(), 0.0));
  out.exact = out.exact && possible;
  if (out.what.empty()) {
    out.what = "estimated length";
    out.printed = static_cast<double>(printed);
    Bytes pool = profiles::from_gib(std::max(m.available_kv->value, 0.0));
    if (layout.null_block_charged) pool += Bytes(layout.bytes_per_block);
    out.predicted = static_cast<double>(planner::estimated_max_len(layout, pool, length, in_flight));
  }
  return out;
}

}  // namespace kvfit::accuracy
