// Annotations of GitHub Actions. Source: docs.github.com, workflow commands (error, warning, notice; escaping) and limits of
// annotations: 10 of each kind a step.
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "cli/check_report.h"
#include "cli/finding_catalog.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using planner::Finding;
using profiles::format;

constexpr std::size_t kMostOfAKind = 10;

std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    out += special ? format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c))) : std::string(1, c);
  }
  return out;
}

std::string_view command(Finding::Level level) { return level == Finding::Level::note ? "notice" : level_name(level); }

std::string annotation(const Placed& placed) {
  std::string properties;
  const auto add = [&properties](std::string_view name, const std::string& value) {
    properties += format("{}{}={}", properties.empty() ? " " : ",", name, escaped(value, true));
  };
  if (!placed.where.file.empty()) add("file", placed.where.file);
  if (placed.where.line > 0) {
    add("line", std::to_string(placed.where.line));
    add("col", std::to_string(placed.where.column));
  }
  const FindingPage* page = find_page(placed.finding.id);
  add("title", format("{} {}", placed.finding.id, page != nullptr ? page->title : ""));
  const std::string& hint = placed.finding.hint;
  return format("::{}{}::{}\n", command(placed.finding.level), properties,
                escaped(printable(placed.finding.text) + (hint.empty() ? "" : ". " + printable(hint)), false));
}

}  // namespace

std::string check_github(const CheckRun& run) {
  std::string out;
  for (const Finding::Level level : {Finding::Level::error, Finding::Level::warning, Finding::Level::note}) {
    std::vector<const Placed*> wanted;
    for (const Placed* placed : all_findings(run)) {
      if (placed->counts() && placed->finding.level == level) wanted.push_back(placed);
    }
    const bool too_many = wanted.size() > kMostOfAKind;
    const std::size_t shown = too_many ? kMostOfAKind - 1 : wanted.size();
    for (std::size_t i = 0; i < shown; ++i) out += annotation(*wanted[i]);
    if (too_many) {
      out += format("::{} title=kvfit::{} more of this kind; the whole report is in the step's log\n", command(level),
                    wanted.size() - shown);
    }
  }
  return out + format("kvfit check: {}\n", summary_text(run));
}

}  // namespace kvfit::cli
