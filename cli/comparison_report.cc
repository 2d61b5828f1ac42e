#include "cli/comparison_report.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {

using profiles::format;
using profiles::Json;
using runtime::Agreement;
using runtime::BootLog;
using runtime::ComparedLine;
using runtime::Comparison;

namespace {

std::string_view agreement_word(Agreement agreement) {
  switch (agreement) {
    case Agreement::exact:
      return "EXACT";
    case Agreement::inside:
      return "WITHIN";
    case Agreement::outside:
      return "OFF";
  }
  return "OFF";
}

Tone agreement_tone(Agreement agreement) {
  return agreement == Agreement::outside ? Tone::bad : agreement == Agreement::exact ? Tone::good : Tone::plain;
}

std::string figure(const ComparedLine& line, double value) {
  if (line.bytes || line.id == "concurrency" || line.id == "needed_kv") return format("{:.2f}", value);
  return profiles::grouped(std::llround(value));
}

}  // namespace

Table comparison_table(const Comparison& comparison) {
  Table out;
  out.columns = {
      {""}, {"line", Align::right}, {"what"}, {"predicted", Align::right}, {"", Align::left}, {"printed", Align::right},
      {""}};
  for (const ComparedLine& line : comparison.lines) {
    out.rows.push_back({{std::string(agreement_word(line.agreement)), agreement_tone(line.agreement)},
                        {std::to_string(line.line)},
                        {line.text},
                        {figure(line, line.predicted)},
                        {line.bar > 0 ? "±" + figure(line, line.bar) : ""},
                        {figure(line, line.printed)},
                        {line.given_available ? "given the printed KV memory" : ""}});
  }
  return out;
}

Json comparison_json(const BootLog& log, const Comparison& comparison) {
  Json lines = Json::array();
  for (const ComparedLine& line : comparison.lines) {
    lines.push_back({{"id", line.id},
                     {"unit", line.bytes || line.id == "needed_kv" ? "gib" : "count"},
                     {"predicted", line.predicted},
                     {"error", line.bar},
                     {"printed", line.printed},
                     {"given_available_kv", line.given_available},
                     {"agreement", line.agreement == Agreement::exact    ? "exact"
                                   : line.agreement == Agreement::inside ? "inside"
                                                                         : "outside"},
                     {"line", line.line}});
  }
  Json out = {{"boot", runtime::boot_end_name(log.end)}, {"lines", lines}};
  if (comparison.first_outside) out["first_outside"] = comparison.lines[*comparison.first_outside].id;
  if (!comparison.cause.empty()) out["cause"] = {{"text", comparison.cause}, {"source", comparison.cause_source}};
  for (const runtime::AssumedSetting& one : comparison.assumed)
    out["assumed"].push_back({{"name", one.name}, {"value", one.value}});
  if (const std::optional<runtime::SolvedUtilization>& found = comparison.utilization) {
    out["utilization"] = {{"assumed", found->assumed}, {"solved", found->solved}, {"error", found->error}};
  }
  for (const runtime::Logged<std::string>& one : log.unusable)
    out["unusable"].push_back({{"line", one.line}, {"text", one.value}});
  return out;
}

namespace {

std::string cause_text(const Comparison& comparison) {
  if (comparison.cause.empty()) return "";
  return format("  {}: {}\n  source: {}\n", comparison.first_outside ? "likely cause" : "known defect of the engine",
                comparison.cause, comparison.cause_source);
}

std::string assumed_text(const Comparison& comparison) {
  std::string out;
  for (const runtime::AssumedSetting& one : comparison.assumed)
    out += format("{}{} {}", out.empty() ? "" : ", ", one.name, one.value);
  if (!out.empty()) out = format("Not stated, so the engine's defaults: {}\n", out);
  const std::optional<runtime::SolvedUtilization>& found = comparison.utilization;
  const bool said = comparison.cause.find("--util") != std::string::npos;
  if (found && !said)
    out += format("The figures ask for a utilisation of {} ±{:.3f}: compare again with --util {}\n", found->solved,
                  std::max(found->error, 0.0005), found->solved);
  return out;
}

}  // namespace

std::string comparison_footing(const BootLog& log, const Comparison& comparison) {
  std::string out;
  if (comparison.first_outside) {
    const ComparedLine& line = comparison.lines[*comparison.first_outside];
    out += format("\nFirst to disagree: {} (line {})\n", line.text, line.line);
  } else {
    out += comparison.lines.empty() ? "\nNothing to compare\n" : "\nEvery line agrees within its bar\n";
  }
  if (log.engine == "vllm" && !comparison.lines.empty() && log.available_kv.empty() && log.kv_tokens.empty())
    out += "The log ends before the KV cache was sized: only what came before it is compared\n";
  out += cause_text(comparison) + assumed_text(comparison);
  for (const runtime::Logged<std::string>& one : log.unusable)
    out += format("Line {} is not used: {}\n", one.line, one.value);
  if (log.error) out += format("The boot ended with: {} (line {})\n", runtime::boot_end_name(log.end), log.error->line);
  return out;
}

Listing calibration_listing(const std::vector<ComparedBoot>& boots) {
  Listing out{.schema = "kvfit.calibration", .value = {{"boots", Json::array()}}};
  for (const ComparedBoot& boot : boots) {
    Json one = {{"file", boot.file}, {"model", boot.model}, {"gpu", boot.gpu}, {"engine", boot.engine}};
    one["first_line"] = boot.log.first_line;
    one["last_line"] = boot.log.lines;
    one.update(comparison_json(boot.log, boot.comparison));
    out.value["boots"].push_back(std::move(one));
  }
  out.body = [&boots](const Screen& screen) {
    std::string text;
    for (const ComparedBoot& boot : boots) {
      text += format("{}{}{}{}: {} on {}, {}\n\n", text.empty() ? "" : "\n", boot.file, boot.which.empty() ? "" : ", ",
                     boot.which, boot.model, boot.gpu, boot.engine);
      text += render(comparison_table(boot.comparison), screen) + comparison_footing(boot.log, boot.comparison);
    }
    return text;
  };
  return out;
}

}  // namespace kvfit::cli
