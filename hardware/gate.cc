#include "hardware/gate.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hardware/gate_rules.h"
#include "profiles/text.h"

namespace kvfit::hardware {
namespace {

using profiles::format;

// What is asked of the rules for one GPU.
struct Request {
  std::string_view format;     // weight format or KV dtype
  std::string_view quantiser;  // weights only
  std::string_view attention;  // KV cache only
  std::string label;           // for people
};

bool covers(const std::vector<std::string>& patterns, std::string_view name) {
  if (patterns.empty()) return true;
  return std::any_of(patterns.begin(), patterns.end(), [name](std::string_view pattern) {
    return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
  });
}

bool matches(const GateRow& row, const Request& request) {
  return covers(row.formats, request.format) && covers(row.quantisers, request.quantiser) &&
         covers(row.attention, request.attention);
}

std::string capability_text(const Gpu& gpu) { return format("{}.{}", gpu.capability.major, gpu.capability.minor); }

std::string fill(std::string text, std::string_view placeholder, std::string_view value) {
  for (std::size_t at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder, at + value.size())) {
    text.replace(at, placeholder.size(), value);
  }
  return text;
}

Gate apply(const GateRow& row, const Request& request, const Gpu& gpu, bool allow_fallback) {
  Gate out;
  out.verdict = row.policy && allow_fallback ? GateVerdict::fallback : row.verdict;
  out.policy = row.policy;
  out.format = request.label;
  out.how = row.how;
  out.reason =
      fill(fill(fill(row.reason, "{gpu}", gpu.name), "{capability}", capability_text(gpu)), "{format}", request.format);
  if (out.verdict == GateVerdict::refused && row.policy) out.reason += " --allow-fallback plans it.";
  out.rule = row.id;
  out.source = row.source;
  return out;
}

Gate judge(std::span<const GateRow> rows, const Request& request, const Gpu& gpu, bool allow_fallback) {
  const int capability = gpu.capability.number();
  for (const GateRow& row : rows) {
    if (row.mixed_group || capability < row.from || capability >= row.below || !matches(row, request)) continue;
    return apply(row, request, gpu, allow_fallback);
  }
  Gate out;
  out.format = request.label;
  out.reason = format("no rule says whether {} ({}) runs {}.", gpu.name, capability_text(gpu), request.label);
  return out;
}

// Refusals that no flag lifts are worst, then those of policy, then the open and the slow.
int severity(const Gate& gate) {
  return static_cast<int>(gate.verdict) * 2 + (gate.verdict == GateVerdict::refused && !gate.policy ? 1 : 0);
}

Gate judge_group(std::span<const GateRow> rows, const Request& request, std::span<const Gpu> group, bool allow_fallback) {
  if (group.empty()) {
    Gate out;
    out.format = request.label;
    out.reason = "no GPU to judge.";
    return out;
  }
  Gate worst = judge(rows, request, group.front(), allow_fallback);
  bool mixed = false;
  for (const Gpu& gpu : group.subspan(1)) {
    mixed = mixed || gpu.capability != group.front().capability;
    Gate gate = judge(rows, request, gpu, allow_fallback);
    if (severity(gate) > severity(worst)) worst = std::move(gate);
  }
  if (!mixed) return worst;
  for (const GateRow& row : rows) {
    if (!row.mixed_group || !matches(row, request)) continue;
    Gate gate = apply(row, request, group.front(), allow_fallback);
    if (severity(gate) >= severity(worst)) worst = std::move(gate);
  }
  return worst;
}

}  // namespace

Gate gate_weights(const GateRules& rules, std::span<const Gpu> group, std::string_view format_name,
                  std::string_view quantiser, bool allow_fallback) {
  std::string label(format_name);
  if (!quantiser.empty() && quantiser != format_name) label += format(" ({})", quantiser);
  return judge_group(rules.weights, {format_name, quantiser, {}, std::move(label)}, group, allow_fallback);
}

Gate gate_kv_cache(const GateRules& rules, std::span<const Gpu> group, std::string_view kv_cache_dtype, bool mla,
                   bool sparse) {
  const std::string_view attention = !mla ? "standard" : sparse ? "sparse_mla" : "mla";
  return judge_group(rules.kv_cache, {kv_cache_dtype, {}, attention, format("{} KV cache", kv_cache_dtype)}, group, false);
}

std::string_view verdict_name(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::native:
      return "native";
    case GateVerdict::fallback:
      return "fallback";
    case GateVerdict::unknown:
      return "unknown";
    case GateVerdict::refused:
      return "refused";
  }
  return "unknown";
}

}  // namespace kvfit::hardware
