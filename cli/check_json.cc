// The machine's view: the plan's own keys for each deployment, findings with places and fingerprints.
#include <string>

#include "cli/check_report.h"
#include "cli/version.h"
#include "cli/words.h"
#include "planner/plan.h"

namespace kvfit::cli {
namespace {

using profiles::Json;

void put(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = printable(text);
}

void put_place(Json& object, const profiles::Where& where) {
  put(object, "path", where.file);
  if (where.line > 0) object["line"] = where.line;
  if (where.line > 0 && where.column > 0) object["column"] = where.column;
  put(object, "key", where.key);
}

Json deployment_json(const CheckCase& one, const CheckRun& run) {
  Json out;
  put(out, "path", one.file);
  if (one.deployment.where.line > 0) out["line"] = one.deployment.where.line;
  out["kind"] = one.deployment.kind;
  put(out, "name", one.deployment.name);
  out["verdict"] = std::string(planner::verdict_name(verdict_of(one)));
  out["passed"] = passes(one, run);
  if (!one.report) return out;
  const Json whole = result_json(*one.report);
  for (const char* key : {"binding", "gpu", "model", "engine", "serving", "checks", "kv", "gates", "levers",
                          "highest_safe_utilization", "assumptions"}) {
    if (whole.contains(key)) out[key] = whole[key];
  }
  return out;
}

Json finding_json(const Placed& placed) {
  Json out;
  out["id"] = placed.finding.id;
  out["level"] = std::string(level_name(placed.finding.level));
  out["text"] = printable(placed.finding.text);
  put(out, "hint", placed.finding.hint);
  put_place(out, placed.where);
  put(out, "deployment", placed.deployment);
  out["fingerprint"] = placed.fingerprint;
  if (placed.suppressed) out["allowed"] = printable(placed.reason);
  if (placed.known) out["known"] = true;
  return out;
}

Json inputs_json(const CheckRun& run) {
  Json out = Json::array();
  std::string seen = "\n";
  const auto add = [&](const std::string& kind, const std::string& id, const std::string& path) {
    const std::string line = kind + "\t" + path + "\n";
    if (seen.find("\n" + line) != std::string::npos) return;
    seen += line;
    out.push_back({{"kind", kind}, {"id", printable(id)}, {"path", printable(path)}});
  };
  for (const CheckCase& one : run.cases) {
    if (!one.file.empty()) add("deployment", one.file, one.file);
    if (!one.report) continue;
    for (const Input& input : one.report->inputs) add(input.kind, input.id, input.origin);
  }
  return out;
}

Json summary_json(const CheckRun& run) {
  const CheckCounts n = count(run);
  return {{"deployments", run.cases.size()},
          {"fits", n.fits},
          {"tight", n.tight},
          {"does_not_fit", n.does_not_fit},
          {"refused", n.refused},
          {"unknown", n.unknown},
          {"faulty", n.faulty},
          {"errors", n.errors},
          {"warnings", n.warnings},
          {"notes", n.notes},
          {"allowed", n.suppressed},
          {"known", n.known}};
}

}  // namespace

profiles::Json check_json(const CheckRun& run) {
  Json out;
  out["schema"] = "kvfit.check";
  out["format_version"] = "1.0";
  out["kvfit_version"] = std::string(version_number());
  out["inputs"] = inputs_json(run);
  Json result;
  result["verdict"] = std::string(planner::verdict_name(worst_verdict(run)));
  result["passed"] = exit_code(run) == 0;
  result["exit_code"] = exit_code(run);
  result["fail_on"] = run.fail_on;
  result["summary"] = summary_json(run);
  result["deployments"] = Json::array();
  for (const CheckCase& one : run.cases) result["deployments"].push_back(deployment_json(one, run));
  result["skipped"] = Json::array();
  for (const std::string& text : run.skipped) result["skipped"].push_back(printable(text));
  out["result"] = std::move(result);
  out["findings"] = Json::array();
  for (const Placed* placed : all_findings(run)) out["findings"].push_back(finding_json(*placed));
  return out;
}

}  // namespace kvfit::cli
