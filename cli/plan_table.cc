// The report for people: ladder, ledger, checks, levers, what others measured, findings, and the line to paste.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/report.h"
#include "cli/table.h"
#include "cli/words.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {
namespace {

using planner::Verdict;
using profiles::Bytes;
using profiles::format;
using profiles::grouped;

constexpr int kBarWidth = 24, kNarrowBar = 12, kNarrow = 100;
constexpr std::int64_t kSmall = profiles::kGiB / 100;

std::string title(std::string_view text, const Screen& screen) { return "\n" + paint(text, Tone::strong, screen) + "\n"; }

Cell verdict_cell(Verdict verdict) { return {std::string(verdict_word(verdict)), verdict_tone(verdict)}; }

std::string item(std::string_view text, const Screen& screen) {
  return "  " + wrap(printable(text), screen.width, 2) + "\n";
}

std::string heading(const Report& report, const Screen& screen) {
  const planner::Settings& settings = report.plan.settings;
  std::string out = paint(printable(model_name(report)), Tone::strong, screen) + "\n";
  std::string where = format("on {}, {} {}, {}", printable(machine_name(report)), report.engine, report.engine_version,
                             report.question.node.system == hardware::System::wsl2 ? "WSL2" : "native Linux");
  if (settings.gpu_memory_utilization > 0) {
    where += format(", utilisation {:.4g}, KV cache {}", settings.gpu_memory_utilization, settings.kv_cache_dtype);
  }
  const Verdict verdict = answer_of(report);
  out += wrap(where, screen.width, 0);
  out += "\n\n" + paint(verdict_word(verdict), verdict_tone(verdict), screen) + "  ";
  const int indent = static_cast<int>(verdict_word(verdict).size()) + 2;
  return out + wrap(printable(headline(report)), screen.width, indent) + "\n";
}

std::string ladder_part(const Report& report, const Screen& screen) {
  const planner::Plan& plan = report.plan;
  if (plan.ladder.empty()) return "";
  const planner::Rung* planned = planned_rung(plan);
  const bool carves =
      std::any_of(plan.ladder.begin(), plan.ladder.end(), [](const planner::Rung& r) { return r.experts > 0; });
  Table table{.columns = {{""},
                          {"context", Align::right},
                          {"seqs", Align::right},
                          {"disk GiB", Align::right},
                          {"margin GiB", Align::right},
                          {"limit", Align::left, true},
                          {""}}};
  if (carves) table.columns.insert(table.columns.begin() + 1, {"experts", Align::right});
  std::string remarks;
  for (const planner::Rung& rung : plan.ladder) {
    std::vector<Cell> row = {verdict_cell(rung.verdict),
                             {count_or_dash(rung.max_model_len)},
                             {count_or_dash(rung.max_num_seqs)},
                             {rung.checkpoint.count > 0 ? gib(rung.checkpoint) : "-"},
                             {with_bar(rung.margin, rung.error)},
                             {rung.binding},
                             {&rung == planned ? "this plan" : "", Tone::strong}};
    if (carves) row.insert(row.begin() + 1, Cell{count_or_dash(rung.experts)});
    table.rows.push_back(std::move(row));
    if (!rung.remark.empty()) remarks += item(format("{} experts: {}", rung.experts, rung.remark), screen);
  }
  return title("Ladder", screen) + render(table, screen) + remarks;
}

// Entries in the order of the sections; those that would show as 0.00 are gathered at the end of their section.
struct Row {
  planner::Section section;
  std::string text;
  Bytes bytes, error;
};

std::vector<Row> ledger_rows(const planner::Ledger& ledger) {
  using enum planner::Section;
  std::vector<Row> out;
  for (const planner::Section section : {before_engine, weights, profile, kv_cache, outside, free}) {
    Row small{.section = section};
    int gathered = 0;
    for (const planner::Entry& entry : ledger.entries) {
      if (entry.section != section) continue;
      if (section == free || std::abs(entry.bytes.count) >= kSmall) {
        out.push_back({section, entry.text, entry.bytes, entry.error});
      } else if (entry.bytes.count != 0) {
        small.bytes += entry.bytes;
        small.text += (gathered++ > 0 ? ", " : "") + entry.text;
      }
    }
    if (gathered > 1) small.text = format("{} smaller ones", gathered);
    if (gathered > 0) out.push_back(small);
  }
  return out;
}

std::string ledger_part(const planner::Plan& plan, const Screen& screen) {
  const planner::Ledger* ledger = fullest(plan);
  if (ledger == nullptr) return "";
  Table table{.columns = {{""}, {"", Align::left, true}, {"GiB", Align::right}, {""}, {"%", Align::right}, {""}}};
  const double total = static_cast<double>(std::max<std::int64_t>(ledger->total.count, 1));
  std::string_view before;
  for (const Row& row : ledger_rows(*ledger)) {
    const std::string_view word = section_word(row.section);
    const double share = static_cast<double>(row.bytes.count) / total;
    const bool over = row.bytes.count < 0;
    const bool last = row.section == planner::Section::free;
    table.rows.push_back({{word == before ? "" : std::string(word), last ? Tone::strong : Tone::plain},
                          {last ? (over ? "OVER: more than the GPU has" : "") : printable(row.text)},
                          {gib(row.bytes), over ? Tone::bad : Tone::plain},
                          {row.error.count >= kSmall / 2 ? "±" + gib(row.error) : "", Tone::dim},
                          {format("{:.1f}", share * 100)},
                          {bar(share, screen.width > 0 && screen.width < kNarrow ? kNarrowBar : kBarWidth),
                           last ? Tone::good : Tone::plain}});
    before = word;
  }
  const std::string which =
      plan.ledgers.size() > 1 ? format(" (rank {}, stage {}: the fullest)", ledger->rank, ledger->stage) : "";
  std::string out = title(format("Memory of one GPU{}: {} GiB", which, gib(ledger->total)), screen) + render(table, screen);
  for (const planner::Ledger& other : plan.ledgers) {
    if (&other != ledger)
      out += item(format("rank {}, stage {}: {} GiB free", other.rank, other.stage, gib(left_free(other))), screen);
  }
  return out;
}

std::vector<Cell> check_row(const planner::Check& check) {
  std::vector<Cell> row = {
      verdict_cell(check.verdict), {check.kind == planner::Check::Kind::boot ? "start" : "load"}, {check.id}};
  if (!check.remedy.empty()) {
    row.insert(row.end(), 4, Cell{"-"});
  } else if (check.need_count && check.have_count) {
    const std::int64_t margin = *check.have_count - *check.need_count;
    row.push_back({grouped(*check.need_count)});
    row.push_back({grouped(*check.have_count)});
    row.push_back({(margin < 0 ? "" : "+") + grouped(margin)});
    row.push_back({"count"});
  } else {
    row.push_back({gib(check.need)});
    row.push_back({gib(check.have)});
    row.push_back({signed_gib(check.margin())});
    row.push_back({check.error.count > 0 ? "GiB ±" + gib(check.error) : "GiB"});
  }
  return row;
}

std::string checks_part(const planner::Plan& plan, const Screen& screen) {
  if (plan.checks.empty()) return "";
  Table table{.columns = {{""},
                          {""},
                          {"", Align::left, true},
                          {"need", Align::right},
                          {"have", Align::right},
                          {"margin", Align::right},
                          {""}}};
  std::string texts;
  for (const planner::Check& check : plan.checks) {
    table.rows.push_back(check_row(check));
    if (check.verdict != Verdict::fits && !check.text.empty()) texts += item(format("{}: {}", check.id, check.text), screen);
  }
  return title("Checks, in the engine's order", screen) + render(table, screen) + texts;
}

std::string kv_part(const planner::Plan& plan, const Screen& screen) {
  const planner::KvCapacity& kv = plan.kv;
  if (kv.num_gpu_blocks <= 0) return "";
  std::string text = format("{} GiB: {} blocks of {} tokens hold {} tokens, {:.2f} requests of {}", gib(kv.available),
                            grouped(kv.num_gpu_blocks), grouped(kv.block_size), grouped(kv.tokens), kv.max_concurrency,
                            grouped(plan.settings.max_model_len));
  if (kv.estimated_max_len > 0) text += format("; the longest single request is {} tokens", grouped(kv.estimated_max_len));
  return title("KV cache", screen) + item(text, screen);
}

std::string levers_part(const planner::Plan& plan, const Screen& screen) {
  if (plan.levers.empty()) return "";
  Table table{.columns = {{"then"}, {"frees GiB", Align::right}, {"lever"}, {"", Align::left, true}}};
  for (const planner::Lever& lever : plan.levers) {
    table.rows.push_back({verdict_cell(lever.verdict), {gib(lever.frees)}, {lever.id}, {printable(lever.text)}});
  }
  return title("What each concession would free", screen) + render(table, screen);
}

std::string published_part(const Report& report, const Screen& screen) {
  if (report.published.empty()) return "";
  Table table{.columns = {{"experts", Align::right}, {"figure"}, {""}, {"", Align::left, true}}};
  std::vector<std::string> sources;
  for (const Published& row : report.published) {
    table.rows.push_back({{count_or_dash(row.experts)}, {row.metric}, {figure_text(row)}, {printable(row.conditions)}});
    const std::string source = format("source: {} ({})", row.source, row.as_of);
    if (sources.empty() || sources.back() != source) sources.push_back(source);
  }
  std::string out =
      title("Published by others for this model and GPU, not computed by kvfit", screen) + render(table, screen);
  for (const std::string& source : sources) out += item(source, screen);
  return out;
}

std::string gates_part(const Report& report, const Screen& screen) {
  std::string out;
  for (const hardware::Gate& gate : report.plan.gates) {
    if (gate.verdict == hardware::GateVerdict::native) continue;
    const bool refused = gate.verdict == hardware::GateVerdict::refused;
    const std::string_view word = refused                                           ? "REFUSED"
                                  : gate.verdict == hardware::GateVerdict::fallback ? "FALLBACK"
                                                                                    : "UNKNOWN";
    out += "  " + paint(word, refused ? Tone::bad : Tone::warn, screen) + "  " + printable(gate.format) +
           (gate.how.empty() ? "" : ":\n    " + printable(gate.how)) + "\n";
    const bool said = refused && headline(report) == gate.reason;
    if (!gate.reason.empty() && !said) out += item(gate.reason, screen);
    if (!gate.rule.empty()) out += item(format("rule {}, source: {}", gate.rule, gate.source), screen);
  }
  return out.empty() ? "" : title("Formats", screen) + out;
}

std::string findings_part(const planner::Plan& plan, const Screen& screen) {
  std::string out;
  for (const planner::Finding& finding : plan.findings) {
    const bool error = finding.level == planner::Finding::Level::error;
    const bool warning = finding.level == planner::Finding::Level::warning;
    const std::string word = error ? "error" : warning ? "warning" : "note";
    const int indent = static_cast<int>(word.size() + finding.id.size()) + 5;
    out += format("  {} {}: {}\n",
                  paint(word,
                        error     ? Tone::bad
                        : warning ? Tone::warn
                                  : Tone::strong,
                        screen),
                  finding.id, wrap(printable(finding.text), screen.width, indent));
    if (!finding.hint.empty()) out += format("    help: {}\n", wrap(printable(finding.hint), screen.width, 10));
  }
  return out.empty() ? "" : title("Findings", screen) + out;
}

std::string assumptions_part(const Report& report, const Screen& screen) {
  std::string out;
  for (const std::string& text : report.defaults) out += item(text, screen);
  for (const std::string& text : report.plan.assumptions) out += item(text, screen);
  return out.empty() ? "" : title("Assumed", screen) + out;
}

// A plan with fewer experts serves a checkpoint that somebody must make first.
std::string carve_first(const Report& report, const Screen& screen) {
  const models::Model& model = report.question.model;
  if (report.plan.experts >= models::expert_count(model)) return "";
  const std::string& name = model.repository.empty() ? model.id : model.repository;
  const std::string source =
      report.model_directory.empty() ? "./" + name.substr(name.rfind('/') + 1) : report.model_directory;
  return item(format("first make it (kvfit does not know what that costs in quality): kvfit carve run {} {} --keep {}",
                     source, report.serve->model, report.plan.experts),
              screen);
}

}  // namespace

std::string table_text(const Report& report, const Screen& screen) {
  const planner::Plan& plan = report.plan;
  std::string out = heading(report, screen);
  out += gates_part(report, screen);
  out += ladder_part(report, screen);
  out += ledger_part(plan, screen);
  out += checks_part(plan, screen);
  out += kv_part(plan, screen);
  out += levers_part(plan, screen);
  out += published_part(report, screen);
  out += findings_part(plan, screen);
  out += assumptions_part(report, screen);
  if (report.serve) out += title("Serve", screen) + carve_first(report, screen) + runtime::shell_text(*report.serve) + "\n";
  return out;
}

}  // namespace kvfit::cli
