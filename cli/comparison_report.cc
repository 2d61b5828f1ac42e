#include "cli/comparison_report.h"

#include <cmath>
#include <string>
#include <string_view>

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
                        {line.bar > 0 ? format("±{:.2f}", line.bar) : ""},
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
  return out;
}

std::string comparison_footing(const BootLog& log, const Comparison& comparison) {
  std::string out;
  if (comparison.first_outside) {
    const ComparedLine& line = comparison.lines[*comparison.first_outside];
    out += format("\nFirst to disagree: {} (line {})\n", line.text, line.line);
  } else {
    out += "\nEvery line agrees within its bar\n";
  }
  if (!comparison.cause.empty())
    out += format("  likely cause: {}\n  source: {}\n", comparison.cause, comparison.cause_source);
  if (log.error) out += format("The boot ended with: {} (line {})\n", runtime::boot_end_name(log.end), log.error->line);
  return out;
}

}  // namespace kvfit::cli
