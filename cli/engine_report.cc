#include "cli/engine_report.h"

#include <string>
#include <string_view>

#include "cli/comparison_report.h"
#include "cli/words.h"
#include "profiles/json.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using planner::Verdict;
using profiles::format;
using profiles::Json;
using runtime::Completion;
using runtime::EngineEnd;
using runtime::EngineRun;

std::string_view end_name(EngineEnd end) {
  switch (end) {
    case EngineEnd::ready:
      return "ready";
    case EngineEnd::exited:
      return "exited";
    case EngineEnd::timed_out:
      return "timed_out";
    case EngineEnd::not_started:
      return "not_started";
  }
  return "timed_out";
}

bool answered(const std::optional<Completion>& completion) { return !completion || completion->status == 200; }

std::string headline_of(const EngineReport& report) {
  const EngineRun& run = report.run;
  if (run.end == EngineEnd::timed_out) return "not ready in time; the engine was ended";
  if (run.end != EngineEnd::ready) {
    const std::string why = run.log.error ? format(": {}", runtime::boot_end_name(run.log.end)) : std::string();
    return format("the engine ended before it was ready (exit status {}){}", run.exit_status, why);
  }
  if (run.died_later)
    return format("ready after {:.0f} s, then the engine died (exit status {})", run.ready_seconds, run.exit_status);
  if (!answered(run.completion) || !answered(run.long_prompt)) {
    return format("ready after {:.0f} s, but a completion failed", run.ready_seconds);
  }
  if (report.comparison && report.comparison->first_outside) {
    return format("ready after {:.0f} s, but a line disagrees with the plan", run.ready_seconds);
  }
  return format("ready after {:.0f} s", run.ready_seconds);
}

std::string completion_text(std::string_view name, const std::optional<Completion>& completion) {
  if (!completion) return "";
  if (completion->status != 200) return format("{}: {}\n", name, printable(completion->error));
  return format("{}: {} tokens in, {} out, {:.1f} s\n", name, profiles::grouped(completion->prompt_tokens),
                completion->completion_tokens, completion->seconds);
}

std::string memory_text(const EngineReport& report) {
  if (!report.run.used_peak) return "";
  std::string out =
      format("peak in use: {} GiB planned, {} GiB sampled", gib(report.planned_peak), gib(*report.run.used_peak));
  if (report.run.used_before) out += format(" ({} GiB before the start)", gib(*report.run.used_before));
  return out + "\n";
}

std::string body_text(const EngineReport& report, const Screen& screen) {
  const Verdict verdict = verdict_of(report);
  std::string out = paint(verdict_word(verdict), verdict_tone(verdict), screen);
  out += "  " + wrap(headline_of(report), screen.width, static_cast<int>(verdict_word(verdict).size()) + 2) + "\n";
  if (report.run.log.error) out += "  " + wrap(printable(report.run.log.error->value), screen.width, 2) + "\n";
  if (report.comparison && !report.comparison->lines.empty()) {
    out += "\n" + render(comparison_table(*report.comparison), screen);
    out += comparison_footing(report.run.log, *report.comparison);
  }
  const std::string rest = memory_text(report) + completion_text("completion", report.run.completion) +
                           completion_text("long prompt", report.run.long_prompt);
  return out + (rest.empty() ? "" : "\n" + rest);
}

Json completion_json(const Completion& completion) {
  Json out = {{"status", completion.status}, {"seconds", completion.seconds}};
  if (completion.prompt_tokens > 0) out["prompt_tokens"] = completion.prompt_tokens;
  if (completion.completion_tokens > 0) out["completion_tokens"] = completion.completion_tokens;
  if (!completion.error.empty()) out["error"] = printable(completion.error);
  return out;
}

Json result_json(const EngineReport& report) {
  const EngineRun& run = report.run;
  Json out = {{"mode", "engine"},
              {"verdict", planner::verdict_name(verdict_of(report))},
              {"plan", printable(report.what)},
              {"command", report.command},
              {"end", end_name(run.end)}};
  if (run.end == EngineEnd::ready) out["ready_seconds"] = run.ready_seconds;
  if (run.end == EngineEnd::exited || run.died_later) out["exit_status"] = run.exit_status;
  out["boot"] = runtime::boot_end_name(run.log.end);
  if (run.log.error) out["error"] = {{"text", printable(run.log.error->value)}, {"line", run.log.error->line}};
  if (report.comparison) out["comparison"] = comparison_json(run.log, *report.comparison);
  if (run.used_peak) {
    out["memory"] = {{"planned_peak_bytes", report.planned_peak.count}, {"peak_bytes", run.used_peak->count}};
    if (run.used_before) out["memory"]["before_bytes"] = run.used_before->count;
  }
  if (run.completion) out["completion"] = completion_json(*run.completion);
  if (run.long_prompt) out["long_prompt"] = completion_json(*run.long_prompt);
  return out;
}

}  // namespace

Verdict verdict_of(const EngineReport& report) {
  const EngineRun& run = report.run;
  if (run.end == EngineEnd::timed_out) return Verdict::unknown;
  const bool up = run.end == EngineEnd::ready && !run.died_later && answered(run.completion) && answered(run.long_prompt);
  const bool agrees = !report.comparison || !report.comparison->first_outside;
  return up && agrees ? Verdict::fits : Verdict::does_not_fit;
}

std::string stage_text(const runtime::BootLog& log) {
  if (log.error) return format("failed: {}", runtime::boot_end_name(log.end));
  if (log.end == runtime::BootEnd::ready) return "ready";
  if (!log.graphs.empty()) return format("CUDA graphs captured: {:.2f} GiB", log.graphs.back().value);
  if (!log.kv_tokens.empty()) return format("KV cache: {} tokens", profiles::grouped(log.kv_tokens.back().value));
  if (!log.available_kv.empty()) return format("available for the KV cache: {:.2f} GiB", log.available_kv.back().value);
  if (!log.weights.empty()) return format("weights loaded: {:.2f} GiB", log.weights.back().value);
  return log.version ? format("vllm {} starts", log.version->value) : "starting";
}

Listing engine_listing(const EngineReport& report) {
  Listing out{.schema = "kvfit.boot", .value = result_json(report)};
  out.heading = format("{}\non {}, {}\n\n", printable(report.what), printable(report.gpu_name), printable(report.engine));
  out.body = [&report](const Screen& screen) { return body_text(report, screen); };
  return out;
}

}  // namespace kvfit::cli
