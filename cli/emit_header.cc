#include "cli/emit_header.h"

#include <string>
#include <vector>

#include "carve/digest.h"
#include "cli/version.h"
#include "cli/words.h"
#include "profiles/text.h"
#include "runtime/secrets.h"
#include "runtime/serve_command.h"

namespace kvfit::cli {
namespace {

using planner::Section;
using profiles::format;

// Comments are one line each, whatever a name or a flag holds.
std::string one_line(const std::string& text) { return printable(text); }

// The smallest headroom over the checks that count bytes, where the verdict does not name it already.
std::string headroom(const planner::Plan& plan) {
  const planner::Check* least = nullptr;
  for (const planner::Check& check : plan.checks) {
    if (!check.need_count && (least == nullptr || check.margin() < least->margin())) least = &check;
  }
  if (least == nullptr || least->id == plan.binding) return "";
  return format("; least headroom {} GiB ({})", with_bar(least->margin(), least->error), least->id);
}

std::string quoted_line(const runtime::ServingFacts& facts, const Args& args, std::string_view target) {
  std::string out = format("kvfit emit --to {}", target);
  for (const std::string& word : args.line({"to", "output", "quiet", "color", "force"})) {
    out += " " + runtime::shell_quoted(word);
  }
  for (const std::string& word : args.words) out += " " + runtime::shell_quoted(word);
  if (!args.trailing.empty()) out += " --";
  for (const std::string& word : runtime::without_secrets(facts, args.trailing)) out += " " + runtime::shell_quoted(word);
  return out;
}

}  // namespace

std::string plan_digest(const Report& report) {
  return carve::sha256_hex(json_value(report)["result"].dump(-1, ' ', false, profiles::Json::error_handler_t::replace))
      .substr(0, 16);
}

std::vector<std::string> emit_header(const Report& report, const runtime::ServingUnit& unit,
                                     const runtime::ServingFacts& facts, const Args& args, std::string_view target) {
  std::vector<std::string> out;
  out.push_back(format("kvfit {}, plan {}", version_number(), plan_digest(report)));
  out.push_back(format("{} on {}, {} {}", model_name(report), machine_name(report), report.engine, unit.engine_version));
  out.push_back(format("verdict: {}{}", headline(report), headroom(report.plan)));
  const bool stated = args.has("read-rate");
  out.push_back(format("start: {} GiB read at {} MiB/s ({}),", gib(unit.checkpoint),
                       args.size("read-rate").value_or(facts.read_rate).count / profiles::kMiB,
                       stated ? "--read-rate" : "assumed: " + facts.read_source));
  out.push_back(format("  {} s to compile ({});", facts.compile_seconds, facts.compile_source));
  out.push_back(format("  probes and timeouts allow {} times the sum, {} s", facts.patience, unit.start.wait_seconds));
  out.push_back(format("write again: {}", quoted_line(facts, args, target)));
  for (std::string& line : out) line = one_line(line);
  return out;
}

std::vector<std::string> rank_lines(const Report& report) {
  std::vector<std::string> out = {
      "memory of each kind of GPU, GiB (tensor and data parallel ranks of a stage are alike):",
      "  rank  stage    total  before start  weights  profile run  KV cache  afterwards     free"};
  for (const planner::Ledger& ledger : report.plan.ledgers) {
    out.push_back(format("  {:>4}  {:>5}  {:>7}  {:>12}  {:>7}  {:>11}  {:>8}  {:>10}  {:>7}", ledger.rank, ledger.stage,
                         gib(ledger.total), gib(ledger.sum(Section::before_engine)), gib(ledger.sum(Section::weights)),
                         gib(ledger.sum(Section::profile)), gib(ledger.sum(Section::kv_cache)),
                         gib(ledger.sum(Section::outside)), gib(ledger.sum(Section::free))));
  }
  return out;
}

}  // namespace kvfit::cli
