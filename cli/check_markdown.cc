// For a pull request's comment or a step's summary.
#include <cstddef>
#include <string>
#include <string_view>

#include "cli/check_report.h"
#include "cli/words.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using profiles::format;

constexpr std::size_t kMost = 60'000;  // a comment holds 65,536 characters

// Text in a table's cell: bars and line ends would break it, markup would be obeyed.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += ' ';
      continue;
    }
    if (std::string_view("|<>*_`[]\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string row_of(const CheckCase& one) {
  const std::string verdict(answer_word(one));
  if (!one.report) return format("| {} | {} | | |\n", verdict, cell(printable(one.label())));
  const Report& report = *one.report;
  return format("| {} | {} | {} on {} | {} |\n", verdict, cell(printable(one.label())), cell(model_name(report)),
                cell(machine_name(report)), cell(answer_text(one)));
}

std::string finding_of(const Placed& placed) {
  const std::string place = place_text(placed.where);
  std::string out = format("- **{} {}**{}{}: {}", level_name(placed.finding.level), placed.finding.id,
                           place.empty() ? "" : " ", cell(place), cell(printable(placed.finding.text)));
  if (!placed.finding.hint.empty()) out += format("  \n  {}", cell(printable(placed.finding.hint)));
  return out + "\n";
}

}  // namespace

std::string check_markdown(const CheckRun& run) {
  std::string out = format("### kvfit check: {}\n\n{}\n", exit_code(run) == 0 ? "pass" : "fail", summary_text(run));
  if (!run.cases.empty()) out += "\n| verdict | deployment | model | answer |\n|---|---|---|---|\n";
  std::size_t left = 0;
  for (const CheckCase& one : run.cases) {
    const std::string row = row_of(one);
    if (out.size() + row.size() > kMost / 2) {
      ++left;
    } else {
      out += row;
    }
  }
  if (left > 0) out += format("\n{} more deployments are left out here.\n", left);
  left = 0;
  std::string list;
  for (const Placed* placed : all_findings(run)) {
    if (!placed->counts()) continue;
    const std::string line = finding_of(*placed);
    if (out.size() + list.size() + line.size() > kMost) {
      ++left;
    } else {
      list += line;
    }
  }
  if (!list.empty()) out += "\n" + list;
  if (left > 0) out += format("\n{} more findings are left out here.\n", left);
  return out;
}

}  // namespace kvfit::cli
