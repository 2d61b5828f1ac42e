#include "cli/check_rules.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/finding_catalog.h"

namespace kvfit::cli {
namespace {

using Kind = runtime::Remark::Kind;

std::string_view id_of(Kind kind) {
  switch (kind) {
    case Kind::unknown_flag:
      return "KVF016";
    case Kind::other_version:
      return "KVF020";
    case Kind::dropped_key:
      return "KVF015";
    case Kind::null_value:
      return "KVF018";
    case Kind::config_not_read:
      return "KVF017";
    case Kind::config_missing:
    case Kind::config_extension:
      return "KVF027";
    case Kind::repeated:
      return "KVF021";
    case Kind::unset_variable:
      return "KVF022";
    case Kind::short_key:
    case Kind::stray_word:
      return "KVF028";
    case Kind::model_as_flag:
      return "KVF029";
  }
  return "KVF000";
}

}  // namespace

Placed& add_finding(std::vector<Placed>& out, std::string_view id, std::string text, std::string hint,
                    profiles::Where where) {
  const FindingPage* page = find_page(id);
  if (page == nullptr) throw std::logic_error("no page for finding " + std::string(id));
  return add_finding(out, id, page->level, std::move(text), std::move(hint), std::move(where));
}

Placed& add_finding(std::vector<Placed>& out, std::string_view id, planner::Finding::Level level, std::string text,
                    std::string hint, profiles::Where where) {
  Placed placed;
  placed.finding = {.id = std::string(id), .level = level, .text = std::move(text), .hint = std::move(hint)};
  placed.where = std::move(where);
  out.push_back(std::move(placed));
  return out.back();
}

void remark_findings(const runtime::Deployment& deployment, std::vector<Placed>& out) {
  for (const runtime::Remark& remark : deployment.remarks) {
    const FindingPage* page = find_page(id_of(remark.kind));
    const bool open = remark.kind == Kind::unknown_flag || remark.kind == Kind::other_version;
    const planner::Finding::Level milder = open ? planner::Finding::Level::warning : page->level;
    add_finding(out, page->id, remark.fatal ? planner::Finding::Level::error : milder, remark.text, remark.hint,
                remark.where);
  }
}

std::vector<Placed> check_findings(const RuleInput& input) {
  std::vector<Placed> out;
  verdict_rules(input, out);
  model_rules(input, out);
  memory_rules(input, out);
  deployment_rules(input, out);
  remark_findings(input.deployment, out);
  std::stable_sort(out.begin(), out.end(),
                   [](const Placed& a, const Placed& b) { return a.finding.level < b.finding.level; });
  return out;
}

}  // namespace kvfit::cli
