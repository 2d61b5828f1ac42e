// For people: each deployment with its verdict, checks and findings, then one line that counts.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/check_report.h"
#include "cli/words.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using planner::Check;
using planner::Finding;
using planner::Verdict;
using profiles::format;

Tone tone_of(Finding::Level level) {
  if (level == Finding::Level::error) return Tone::bad;
  return level == Finding::Level::warning ? Tone::warn : Tone::strong;
}

// "boot OK +0.72 ±0.63", the check with the least room of its kind.
std::string fit_of(const planner::Plan& plan, Check::Kind kind) {
  const Check* least = nullptr;
  for (const Check& check : plan.checks) {
    if (check.kind != kind || check.need_count) continue;
    if (least == nullptr || check.margin() < least->margin()) least = &check;
  }
  Verdict worst = Verdict::fits;
  for (const Check& check : plan.checks) {
    if (check.kind == kind && static_cast<int>(check.verdict) > static_cast<int>(worst)) worst = check.verdict;
  }
  if (least == nullptr) return "";
  return format("{} {} ({} {} GiB)", kind == Check::Kind::boot ? "boot" : "run", verdict_word(worst), least->id,
                with_bar(least->margin(), least->error));
}

std::string formats_of(const planner::Plan& plan) {
  std::string out;
  for (const hardware::Gate& gate : plan.gates) {
    const std::string_view word = gate.verdict == hardware::GateVerdict::native     ? "native"
                                  : gate.verdict == hardware::GateVerdict::fallback ? "fallback"
                                  : gate.verdict == hardware::GateVerdict::refused  ? "refused"
                                                                                    : "unknown";
    out += format("{}{} {}", out.empty() ? "" : ", ", gate.format, word);
  }
  return out;
}

std::string finding_text(const Placed& placed, const Screen& screen) {
  const std::string place = place_text(placed.where);
  const std::string head = format("{} {}", level_name(placed.finding.level), placed.finding.id);
  std::string out = "  " + paint(head, placed.counts() ? tone_of(placed.finding.level) : Tone::dim, screen);
  if (!place.empty()) out += " " + place;
  out += "\n      " + wrap(printable(placed.finding.text), screen.width, 6) + "\n";
  if (!placed.finding.hint.empty()) out += "      help: " + wrap(printable(placed.finding.hint), screen.width, 12) + "\n";
  if (placed.suppressed) out += "      allowed: " + wrap(printable(placed.reason), screen.width, 15) + "\n";
  if (placed.known && !placed.suppressed) out += "      known: the baseline has it\n";
  return out;
}

std::string case_text(const CheckCase& one, const Screen& screen) {
  const Verdict verdict = verdict_of(one);
  const std::string word(answer_word(one));
  std::string out = paint(one.label(), Tone::strong, screen) + "\n";
  out += "  " + paint(word, one.faulty() ? Tone::bad : verdict_tone(verdict), screen);
  if (one.report) {
    const Report& report = *one.report;
    out += "  " + wrap(answer_text(one), screen.width, 4 + static_cast<int>(word.size())) + "\n";
    out += "  " +
           wrap(format("{} on {}, {} {}{}", model_name(report), machine_name(report), report.engine, report.engine_version,
                       report.question.node.system == hardware::System::wsl2 ? ", WSL2" : ""),
                screen.width, 2) +
           "\n";
    if (verdict != Verdict::refused) {
      const std::string boot = fit_of(report.plan, Check::Kind::boot);
      const std::string run = fit_of(report.plan, Check::Kind::run);
      if (!boot.empty()) out += "  " + wrap(boot + (run.empty() ? "" : "; " + run), screen.width, 2) + "\n";
    }
    const std::string formats = formats_of(report.plan);
    if (!formats.empty()) out += "  " + wrap("formats: " + formats, screen.width, 2) + "\n";
    for (const std::string& text : one.assumptions)
      out += "  " + wrap("assumed: " + printable(text), screen.width, 2) + "\n";
  } else {
    out += "  no answer\n";
  }
  for (const Placed& placed : one.findings) out += finding_text(placed, screen);
  return out;
}

}  // namespace

std::string place_text(const profiles::Where& where) {
  if (where.file.empty()) return "";
  if (where.line <= 0) return printable(where.file);
  return format("{}:{}:{}", printable(where.file), where.line, where.column);
}

std::string_view answer_word(const CheckCase& one) { return one.faulty() ? "NO" : verdict_word(verdict_of(one)); }

std::string answer_text(const CheckCase& one) {
  if (!one.report) return "no answer";
  if (!one.faulty()) return headline(*one.report);
  std::vector<std::string> against;
  for (const Placed& placed : one.findings) {
    const bool counts = placed.counts() && placed.finding.level == Finding::Level::error;
    const bool named = std::find(against.begin(), against.end(), placed.finding.id) != against.end();
    if (counts && !named) against.push_back(placed.finding.id);
  }
  return format("{} stand{} against it; the memory {}", profiles::join(against, ", "), against.size() == 1 ? "s" : "",
                headline(*one.report));
}

std::string summary_text(const CheckRun& run) {
  const CheckCounts n = count(run);
  std::vector<std::string> verdicts, findings;
  const auto add = [](std::vector<std::string>& out, std::size_t count, std::string_view word, std::string_view many) {
    if (count > 0) out.push_back(format("{} {}", count, count == 1 ? word : many));
  };
  add(verdicts, n.fits, "fits", "fit");
  add(verdicts, n.tight, "tight", "tight");
  if (n.faulty > 0) verdicts.back() += format(" ({} of them with an error)", n.faulty);
  add(verdicts, n.does_not_fit, "does not fit", "do not fit");
  add(verdicts, n.refused, "refused", "refused");
  add(verdicts, n.unknown, "without answer", "without answer");
  add(findings, n.errors, "error", "errors");
  add(findings, n.warnings, "warning", "warnings");
  add(findings, n.notes, "note", "notes");
  add(findings, n.suppressed, "allowed", "allowed");
  add(findings, n.known, "known", "known");
  std::string out = format("{} deployment{}", run.cases.size(), run.cases.size() == 1 ? "" : "s");
  if (!verdicts.empty()) out += format(": {}", profiles::join(verdicts, ", "));
  if (!findings.empty()) out += format("; {}", profiles::join(findings, ", "));
  return out;
}

std::string check_table(const CheckRun& run, const Screen& screen) {
  std::string out;
  for (const CheckCase& one : run.cases) out += (out.empty() ? "" : "\n") + case_text(one, screen);
  if (!run.general.empty()) out += out.empty() ? "" : "\n";
  for (const Placed& placed : run.general) out += finding_text(placed, screen);
  const int code = exit_code(run);
  const std::string_view word = code == 0 ? "PASS" : "FAIL";
  return out + (out.empty() ? "" : "\n") + paint(std::string(word), code == 0 ? Tone::good : Tone::bad, screen) + "  " +
         wrap(summary_text(run), screen.width, 6) + "\n";
}

}  // namespace kvfit::cli
