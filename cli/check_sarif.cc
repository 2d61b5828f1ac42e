// SARIF 2.1.0 for code scanning. Source: OASIS SARIF 2.1.0; GitHub's supported properties (rules with helpUri, levels,
// relative paths, partialFingerprints, suppressions).
#include <map>
#include <string>
#include <string_view>

#include "cli/check_report.h"
#include "cli/finding_catalog.h"
#include "cli/version.h"
#include "cli/words.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using profiles::format;
using profiles::Json;

std::string sentence(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out.front() >= 'a' && out.front() <= 'z') out.front() = static_cast<char>(out.front() - 'a' + 'A');
  return out.ends_with('.') ? out : out + ".";
}

Json rule_json(const FindingPage& page) {
  Json out;
  out["id"] = std::string(page.id);
  out["shortDescription"] = {{"text", sentence(page.title)}};
  out["fullDescription"] = {{"text", std::string(page.about)}};
  out["help"] = {{"text", format("{} kvfit explain {} prints this page.", page.remedy, page.id)}};
  out["defaultConfiguration"] = {{"level", std::string(level_name(page.level))}};
  return out;
}

// A URI reference: what is no plain path character is percent-encoded.
std::string uri(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return out;
}

Json location_json(const profiles::Where& where) {
  Json physical;
  physical["artifactLocation"] = {{"uri", uri(where.file)}};
  if (where.line > 0) {
    physical["region"] = {{"startLine", where.line}};
    if (where.column > 0) physical["region"]["startColumn"] = where.column;
  }
  return {{"physicalLocation", std::move(physical)}};
}

Json result_of(const Placed& placed, std::size_t rule) {
  Json out;
  out["ruleId"] = placed.finding.id;
  out["ruleIndex"] = rule;
  out["level"] = std::string(level_name(placed.finding.level));
  const std::string hint = placed.finding.hint.empty() ? "" : " " + sentence(printable(placed.finding.hint));
  const std::string of = placed.deployment.empty() ? "" : printable(placed.deployment) + ": ";
  out["message"] = {{"text", of + sentence(printable(placed.finding.text)) + hint}};
  out["locations"] = Json::array();
  if (!placed.where.file.empty() && placed.where.file.front() != '<')
    out["locations"].push_back(location_json(placed.where));
  out["partialFingerprints"] = {{"kvfit/v1", placed.fingerprint}};
  if (placed.known) out["baselineState"] = "unchanged";
  if (placed.suppressed) {
    out["suppressions"] = Json::array();
    out["suppressions"].push_back({{"kind", "external"}, {"justification", printable(placed.reason)}});
  }
  return out;
}

}  // namespace

profiles::Json check_sarif(const CheckRun& run) {
  Json driver;
  driver["name"] = "kvfit";
  driver["version"] = std::string(version_number());
  driver["semanticVersion"] = std::string(version_number());
  driver["rules"] = Json::array();
  std::map<std::string, std::size_t, std::less<>> index;
  for (const FindingPage& page : finding_pages()) {
    index[std::string(page.id)] = driver["rules"].size();
    driver["rules"].push_back(rule_json(page));
  }
  Json results = Json::array();
  for (const Placed* placed : all_findings(run)) results.push_back(result_of(*placed, index[placed->finding.id]));
  Json one;
  one["tool"] = {{"driver", std::move(driver)}};
  one["columnKind"] = "unicodeCodePoints";
  one["results"] = std::move(results);
  Json out;
  out["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  out["version"] = "2.1.0";
  out["runs"] = Json::array();
  out["runs"].push_back(std::move(one));
  return out;
}

}  // namespace kvfit::cli
