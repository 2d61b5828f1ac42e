// The report as a page for a pull request or a step summary: verdict, ladder, checks, levers, findings, command.
#include <string>
#include <string_view>
#include <vector>

#include "cli/report.h"
#include "cli/words.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {
namespace {

using profiles::format;
using profiles::grouped;

// Text from files must not become markup.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_{}[]<>#|").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string ladder_part(const planner::Plan& plan) {
  if (plan.ladder.empty()) return "";
  std::string out =
      "\n### Ladder\n\n| verdict | experts | context | sequences | checkpoint GiB | margin GiB | limit | |\n"
      "|---|--:|--:|--:|--:|--:|---|---|\n";
  const planner::Rung* planned = planned_rung(plan);
  for (const planner::Rung& rung : plan.ladder) {
    out += format("| {} | {} | {} | {} | {} | {} | `{}` | {} |\n", verdict_word(rung.verdict), count_or_dash(rung.experts),
                  count_or_dash(rung.max_model_len), count_or_dash(rung.max_num_seqs),
                  rung.checkpoint.count > 0 ? gib(rung.checkpoint) : "-", with_bar(rung.margin, rung.error), rung.binding,
                  &rung == planned ? "this plan" : escaped(rung.remark));
  }
  return out;
}

std::string ledger_part(const planner::Plan& plan) {
  const planner::Ledger* ledger = fullest(plan);
  if (ledger == nullptr) return "";
  std::string out =
      format("\n### Memory of one GPU: {} GiB\n\n| section | entry | GiB | ± | from |\n|---|---|--:|--:|---|\n",
             gib(ledger->total));
  for (const planner::Entry& entry : ledger->entries) {
    out += format("| {} | {} | {} | {} | {} |\n", section_word(entry.section), escaped(entry.text), gib(entry.bytes),
                  entry.error.count > 0 ? gib(entry.error) : "", planner::provenance_name(entry.provenance));
  }
  return out;
}

std::string checks_part(const planner::Plan& plan) {
  if (plan.checks.empty()) return "";
  std::string out = "\n### Checks\n\n| verdict | when | check | need | have | margin |\n|---|---|---|--:|--:|--:|\n";
  for (const planner::Check& check : plan.checks) {
    const std::string_view when = check.kind == planner::Check::Kind::boot ? "start" : "load";
    if (check.need_count && check.have_count) {
      out += format("| {} | {} | `{}` | {} | {} | {} |\n", verdict_word(check.verdict), when, check.id,
                    grouped(*check.need_count), grouped(*check.have_count), grouped(*check.have_count - *check.need_count));
    } else {
      out += format("| {} | {} | `{}` | {} GiB | {} GiB | {} GiB |\n", verdict_word(check.verdict), when, check.id,
                    gib(check.need), gib(check.have), with_bar(check.margin(), check.error));
    }
  }
  return out;
}

std::string levers_part(const planner::Plan& plan) {
  if (plan.levers.empty()) return "";
  std::string out = "\n### Levers\n\n| then | frees GiB | lever | |\n|---|--:|---|---|\n";
  for (const planner::Lever& lever : plan.levers) {
    out += format("| {} | {} | `{}` | {} |\n", verdict_word(lever.verdict), gib(lever.frees), lever.id, escaped(lever.text));
  }
  return out;
}

std::string published_part(const Report& report) {
  if (report.published.empty()) return "";
  std::string out =
      "\n### Published by others, not computed by kvfit\n\n| experts | figure | | conditions | source "
      "|\n|--:|---|--:|---|---|\n";
  for (const Published& row : report.published) {
    out += format("| {} | {} | {} | {} | {} ({}) |\n", count_or_dash(row.experts), escaped(row.metric), figure_text(row),
                  escaped(row.conditions), escaped(row.source), row.as_of);
  }
  return out;
}

std::string list_part(std::string_view name, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string out = format("\n### {}\n\n", name);
  for (const std::string& line : lines) out += format("- {}\n", line);
  return out;
}

std::vector<std::string> finding_lines(const planner::Plan& plan) {
  std::vector<std::string> out;
  for (const planner::Finding& finding : plan.findings) {
    const std::string_view level = finding.level == planner::Finding::Level::error     ? "error"
                                   : finding.level == planner::Finding::Level::warning ? "warning"
                                                                                       : "note";
    out.push_back(format("**{}** {}: {}{}", level, finding.id, escaped(finding.text),
                         finding.hint.empty() ? "" : " (" + escaped(finding.hint) + ")"));
  }
  return out;
}

}  // namespace

std::string markdown_text(const Report& report) {
  const planner::Plan& plan = report.plan;
  std::string out = format("## {}: {}\n\n{} on {}, {} {}\n", verdict_word(answer_of(report)), escaped(headline(report)),
                           escaped(model_name(report)), escaped(machine_name(report)), report.engine, report.engine_version);
  out += ladder_part(plan) + checks_part(plan) + levers_part(plan) + ledger_part(plan) + published_part(report);
  out += list_part("Findings", finding_lines(plan));
  std::vector<std::string> assumed;
  for (const std::string& text : report.defaults) assumed.push_back(escaped(text));
  for (const std::string& text : plan.assumptions) assumed.push_back(escaped(text));
  out += list_part("Assumed", assumed);
  if (report.serve) out += format("\n### Serve\n\n```sh\n{}\n```\n", runtime::shell_text(*report.serve));
  return out;
}

}  // namespace kvfit::cli
