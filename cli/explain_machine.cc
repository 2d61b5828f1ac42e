// What the machine is and how the engine is set: facts and resolved defaults.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/explain.h"
#include "cli/words.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {
namespace {

using profiles::Bytes;
using profiles::format;
using profiles::grouped;

std::string how(bool sourced, bool derived) { return derived ? "derived" : sourced ? "measured" : "assumed"; }

Explanation total(const Report& report) {
  const hardware::Node& node = report.question.node;
  const bool wsl = node.system == hardware::System::wsl2;
  const hardware::Fact<hardware::ByteRange> fact =
      wsl ? node.gpu.cuda_total_wsl2.value_or(node.gpu.cuda_total_linux) : node.gpu.cuda_total_linux;
  return {.key = "machine.total",
          .meaning = format("what CUDA reports as the memory of one {} under {}", node.gpu.name, wsl ? "WSL2" : "Linux"),
          .value = bytes_text(fact.value.likely),
          .worked = {format("between {} and {} GiB", gib(fact.value.low), gib(fact.value.high))},
          .provenance = how(fact.sourced, fact.derived),
          .source = fact.source};
}

Explanation free_at_start(const Report& report) {
  const hardware::Node& node = report.question.node;
  const hardware::ByteRange free = hardware::free_at_start(node);
  const std::string formula = node.gpu.unified                        ? "total - idle - used elsewhere"
                              : node.system == hardware::System::wsl2 ? "total - hidden by the host - used elsewhere"
                                                                      : "total - context - idle - used elsewhere";
  return {.key = "machine.free_at_start",
          .meaning = "free when the engine takes its first snapshot",
          .value = bytes_text(free.likely),
          .formula = formula,
          .worked = {format("between {} and {} GiB", gib(free.low), gib(free.high))},
          .provenance = "derived",
          .source = format("profile of {}", node.gpu.id)};
}

Explanation budget(const Report& report) {
  const Bytes size = hardware::total_memory(report.question.node).likely;
  const double share = report.plan.settings.gpu_memory_utilization;
  const planner::Check* found = nullptr;
  for (const planner::Check& check : report.plan.checks) {
    if (check.id == "free_memory") found = &check;
  }
  return {.key = "budget",
          .meaning = "what the engine asks of the GPU at start",
          .value = found != nullptr ? bytes_text(found->need) : "not set",
          .formula = "ceil(total x gpu_memory_utilization)",
          .worked = {format("ceil({} x {})", grouped(size.count), share)},
          .provenance = "exact",
          .source = "vllm/v1/worker/utils.py request_memory"};
}

Explanation setting(std::string name, std::string value, bool stated, std::string meaning) {
  return {.key = "settings." + std::move(name),
          .meaning = std::move(meaning),
          .value = std::move(value),
          .source = stated ? "a flag, or kvfit's default (see Assumed in the plan)"
                           : "the engine's default, or found by the search"};
}

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
  if (sizes.empty()) return "none";
  return format("{} sizes, {} to {}", sizes.size(), sizes.front(), sizes.back());
}

std::vector<Explanation> settings(const Report& report) {
  const planner::Settings& s = report.plan.settings;
  const planner::Serving& asked = report.question.serving;
  if (s.max_model_len == 0) return {};
  const auto yes_no = [](bool on) { return std::string(on ? "on" : "off"); };
  return {
      setting("max_model_len", grouped(s.max_model_len), asked.max_model_len.has_value(), "tokens of the longest request"),
      setting("max_num_seqs", grouped(s.max_num_seqs), asked.max_num_seqs.has_value(), "sequences served at once"),
      setting("max_num_batched_tokens", grouped(s.max_num_batched_tokens), asked.max_num_batched_tokens.has_value(),
              "tokens of one step"),
      setting("gpu_memory_utilization", format("{}", s.gpu_memory_utilization), asked.gpu_memory_utilization.has_value(),
              "share of the total that the engine budgets"),
      setting("kv_cache_dtype", s.kv_cache_dtype, asked.kv_cache_dtype != "auto", "type of a cached key or value"),
      setting("block_size", grouped(s.block_size), asked.block_size.has_value(),
              "tokens a block, before alignment for hybrids"),
      setting("prefix_caching", yes_no(s.prefix_caching), asked.enable_prefix_caching.has_value(),
              "reuse of equal prefixes"),
      setting("async_scheduling", yes_no(s.async_scheduling), asked.async_scheduling.has_value(), "one step ahead"),
      setting(
          "runner", s.runner == planner::Runner::v2 ? "v2" : "v1", asked.v2_model_runner.has_value(),
          s.runner_sure ? "model runner of this version" : "model runner: version and family leave it open, bars are wider"),
      setting("capture_sizes", s.eager ? "none (eager)" : sizes_text(s.capture_sizes),
              !asked.cudagraph_capture_sizes.empty(), "batch sizes captured as CUDA graphs"),
      setting("in_flight_tokens", grouped(s.in_flight_tokens), false, "tokens a window keeps beside its own"),
      setting("vision", yes_no(s.vision), asked.language_model_only.has_value(), "vision tower loaded"),
      setting("attention_backend", s.attention_backend, !asked.attention_backend.empty(), "attention kernels"),
  };
}

}  // namespace

std::vector<Explanation> explain_machine(const Report& report) {
  std::vector<Explanation> out = {total(report), free_at_start(report)};
  if (report.plan.settings.gpu_memory_utilization > 0) out.push_back(budget(report));
  for (Explanation& item : settings(report)) out.push_back(std::move(item));
  return out;
}

}  // namespace kvfit::cli
