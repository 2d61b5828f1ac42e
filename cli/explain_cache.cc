// The KV cache: from the bytes that are left to blocks, tokens and requests.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/explain.h"
#include "cli/words.h"
#include "planner/kv_capacity.h"
#include "planner/kv_groups.h"
#include "planner/traits.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {
namespace {

using planner::KvLayout;
using profiles::Bytes;
using profiles::format;
using profiles::grouped;

constexpr std::string_view kUtils = "vllm/v1/core/kv_cache_utils.py";

std::vector<KvLayout> layouts(const Report& report) {
  const planner::Question& question = report.question;
  if (!question.rules) return {};
  planner::Traits traits = planner::traits_of(question);
  planner::add_settings(traits, report.plan.settings);
  const planner::Speculative* draft = question.serving.speculative ? &*question.serving.speculative : nullptr;
  return planner::kv_layouts(question.model, draft, report.plan.settings, *question.rules, traits);
}

// The stage whose layout the plan's capacity speaks of.
const KvLayout* deciding(const std::vector<KvLayout>& all, const planner::KvCapacity& kv) {
  const auto found = std::find_if(
      all.begin(), all.end(), [&kv](const KvLayout& layout) { return layout.bytes_per_block == kv.bytes_per_block.count; });
  return found == all.end() ? nullptr : &*found;
}

// "a = b" of the planner's worked lines; the text after the first " = " is the arithmetic.
Explanation worked(std::string key, std::string meaning, std::string value, std::string line) {
  return {.key = std::move(key),
          .meaning = std::move(meaning),
          .value = std::move(value),
          .worked = {std::move(line)},
          .provenance = "exact",
          .source = std::string(kUtils)};
}

Explanation available(const Report& report) {
  const planner::KvCapacity& kv = report.plan.kv;
  const planner::Ledger* ledger = fullest(report.plan);
  Explanation out{.key = "kv.available",
                  .meaning = "bytes the engine gives to the KV cache (\"Available KV cache memory\")",
                  .value = bytes_text(kv.available),
                  .formula = "budget - weights - profile run",
                  .provenance = "derived",
                  .source = "vllm/v1/worker/gpu_worker.py determine_available_memory"};
  for (const planner::Check& check : report.plan.checks) {
    if (ledger == nullptr || check.id != "free_memory") continue;
    out.worked.push_back(format("{} - {} - {} GiB", gib(check.need), gib(ledger->sum(planner::Section::weights)),
                                gib(ledger->sum(planner::Section::profile))));
  }
  if (report.question.serving.kv_cache_memory_bytes) {
    out.formula = "--kv-cache-memory-bytes, as stated";
    out.worked.clear();
  }
  return out;
}

}  // namespace

std::vector<Explanation> explain_cache(const Report& report) {
  const planner::KvCapacity& kv = report.plan.kv;
  const std::int64_t length = report.plan.settings.max_model_len;
  const std::int64_t in_flight = report.plan.settings.in_flight_tokens;
  if (kv.bytes_per_block.count <= 0) return {};
  std::vector<Explanation> out = {available(report)};
  const std::vector<KvLayout> all = layouts(report);
  if (const KvLayout* layout = deciding(all, kv)) {
    out.push_back(worked("kv.block_size", "tokens one block of the first attention group holds", grouped(kv.block_size),
                         planner::explain_block_size(*layout)));
    out.push_back(worked("kv.bytes_per_block", "bytes of one block over its layers", bytes_text(kv.bytes_per_block),
                         planner::explain_bytes_per_block(*layout)));
    out.push_back(worked("kv.blocks_per_request", format("blocks one request of {} tokens holds", grouped(length)),
                         grouped(kv.blocks_per_request), planner::explain_pages(*layout, length, in_flight)));
    out.push_back(worked("kv.tokens", "\"GPU KV cache size\" as this version prints it", grouped(kv.tokens),
                         planner::explain_tokens(*layout, kv.num_gpu_blocks, length, in_flight)));
  }
  out.push_back({.key = "kv.num_gpu_blocks",
                 .meaning = "blocks of the pool",
                 .value = grouped(kv.num_gpu_blocks),
                 .formula = "floor(available / bytes per block), the fewest over all ranks",
                 .worked = {format("{} / {}", grouped(kv.available.count), grouped(kv.bytes_per_block.count))},
                 .provenance = "exact",
                 .source = std::string(kUtils)});
  out.push_back({.key = "kv.needed",
                 .meaning = format("bytes one request of {} tokens needs", grouped(length)),
                 .value = bytes_text(kv.needed),
                 .formula = "blocks per request x bytes per block",
                 .worked = {format("{} x {}", grouped(kv.blocks_per_request), grouped(kv.bytes_per_block.count))},
                 .provenance = "exact",
                 .source = std::string(kUtils)});
  if (kv.blocks_per_request > 0) {
    out.push_back({.key = "kv.max_concurrency",
                   .meaning = format("requests of {} tokens that run at once without preemption", grouped(length)),
                   .value = format("{:.2f}", kv.max_concurrency),
                   .formula = "blocks of the pool / blocks per request",
                   .worked = {format("{} / {}", grouped(kv.num_gpu_blocks), grouped(kv.blocks_per_request))},
                   .provenance = "exact",
                   .source = std::string(kUtils)});
  }
  if (kv.estimated_max_len > 0) {
    out.push_back({.key = "kv.estimated_max_len",
                   .meaning = "longest single request that the pool holds",
                   .value = grouped(kv.estimated_max_len),
                   .formula = "largest length whose need is within the pool, by bisection",
                   .provenance = "exact",
                   .source = std::string(kUtils)});
  }
  return out;
}

}  // namespace kvfit::cli
