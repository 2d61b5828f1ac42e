// The machine's view of a plan: keys are vLLM's names in snake_case, bytes are integers, what is not known is absent.
#include <cmath>
#include <string>

#include "cli/report.h"
#include "cli/version.h"
#include "cli/words.h"
#include "models/model.h"
#include "profiles/json.h"

namespace kvfit::cli {
namespace {

using planner::Verdict;
using profiles::Json;

void put(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = printable(text);
}

Json gpu_json(const Report& report) {
  const hardware::Node& node = report.question.node;
  Json out;
  out["id"] = node.gpu.id;
  out["name"] = node.gpu.name;
  out["count"] = node.count;
  out["system"] = node.system == hardware::System::wsl2 ? "wsl2" : "linux";
  out["compute_capability"] = std::to_string(node.gpu.capability.major) + "." + std::to_string(node.gpu.capability.minor);
  out["total_bytes"] = hardware::total_memory(node).likely.count;
  return out;
}

Json model_json(const Report& report) {
  const models::Model& model = report.question.model;
  Json out;
  out["id"] = printable(model.id);
  put(out, "repository", model.repository);
  put(out, "model_type", model.family);
  if (models::expert_count(model) > 0) {
    out["experts"] = models::expert_count(model);
    out["planned_experts"] = report.plan.experts;
  }
  return out;
}

Json serving_json(const planner::Settings& settings) {
  Json out;
  out["max_model_len"] = settings.max_model_len;
  out["max_num_seqs"] = settings.max_num_seqs;
  out["max_num_batched_tokens"] = settings.max_num_batched_tokens;
  out["gpu_memory_utilization"] = settings.gpu_memory_utilization;
  put(out, "kv_cache_dtype", settings.kv_cache_dtype);
  out["block_size"] = settings.block_size;
  out["enable_prefix_caching"] = settings.prefix_caching;
  out["enforce_eager"] = settings.eager;
  out["async_scheduling"] = settings.async_scheduling;
  put(out, "attention_backend", settings.attention_backend);
  out["tensor_parallel_size"] = settings.tp;
  out["pipeline_parallel_size"] = settings.pp;
  out["data_parallel_size"] = settings.dp;
  out["decode_context_parallel_size"] = settings.dcp;
  out["expert_parallel_size"] = settings.expert_parallel;
  out["vision"] = settings.vision;
  if (!settings.speculative_method.empty()) {
    out["speculative_config"] = {{"method", settings.speculative_method},
                                 {"num_speculative_tokens", settings.speculative_tokens}};
  }
  return out;
}

Json ladder_json(const planner::Plan& plan) {
  Json out = Json::array();
  for (const planner::Rung& rung : plan.ladder) {
    Json row;
    if (rung.experts > 0) row["experts"] = rung.experts;
    row["max_model_len"] = rung.max_model_len;
    row["max_num_seqs"] = rung.max_num_seqs;
    row["verdict"] = std::string(planner::verdict_name(rung.verdict));
    put(row, "binding", rung.binding);
    if (rung.checkpoint.count > 0) row["checkpoint_bytes"] = rung.checkpoint.count;
    row["margin_bytes"] = rung.margin.count;
    row["error_bytes"] = rung.error.count;
    put(row, "remark", rung.remark);
    out.push_back(std::move(row));
  }
  return out;
}

Json ledger_json(const planner::Ledger& ledger) {
  Json out;
  out["rank"] = ledger.rank;
  out["stage"] = ledger.stage;
  out["total_bytes"] = ledger.total.count;
  out["ledger"] = Json::array();
  for (const planner::Entry& entry : ledger.entries) {
    Json row;
    row["label"] = entry.label;
    put(row, "text", entry.text);
    row["section"] = std::string(section_name(entry.section));
    row["bytes"] = entry.bytes.count;
    row["error_bytes"] = entry.error.count;
    row["provenance"] = std::string(planner::provenance_name(entry.provenance));
    put(row, "source", entry.source);
    out["ledger"].push_back(std::move(row));
  }
  return out;
}

Json checks_json(const planner::Plan& plan) {
  Json out = Json::array();
  for (const planner::Check& check : plan.checks) {
    Json row;
    row["id"] = check.id;
    row["kind"] = check.kind == planner::Check::Kind::boot ? "boot" : "run";
    if (check.need_count && check.have_count) {
      row["need_count"] = *check.need_count;
      row["have_count"] = *check.have_count;
    } else {
      row["need_bytes"] = check.need.count;
      row["have_bytes"] = check.have.count;
      row["margin_bytes"] = check.margin().count;
      row["error_bytes"] = check.error.count;
    }
    row["verdict"] = std::string(planner::verdict_name(check.verdict));
    if (check.verdict == Verdict::does_not_fit) row["certain"] = check.certain;
    put(row, "text", check.text);
    out.push_back(std::move(row));
  }
  return out;
}

Json kv_json(const planner::KvCapacity& kv) {
  Json out;
  out["available_bytes"] = kv.available.count;
  out["needed_bytes"] = kv.needed.count;
  out["block_size"] = kv.block_size;
  out["num_gpu_blocks"] = kv.num_gpu_blocks;
  out["blocks_per_request"] = kv.blocks_per_request;
  out["bytes_per_block"] = kv.bytes_per_block.count;
  out["tokens"] = kv.tokens;
  if (std::isfinite(kv.max_concurrency)) out["max_concurrency"] = kv.max_concurrency;
  if (kv.estimated_max_len > 0) out["estimated_max_len"] = kv.estimated_max_len;
  out["groups"] = kv.groups;
  out["group_size"] = kv.group_size;
  return out;
}

std::string gate_name(hardware::GateVerdict verdict) {
  switch (verdict) {
    case hardware::GateVerdict::native:
      return "native";
    case hardware::GateVerdict::fallback:
      return "fallback";
    case hardware::GateVerdict::refused:
      return "refused";
    case hardware::GateVerdict::unknown:
      return "unknown";
  }
  return "unknown";
}

Json gates_json(const planner::Plan& plan) {
  Json out = Json::array();
  for (const hardware::Gate& gate : plan.gates) {
    Json row;
    row["format"] = gate.format;
    row["verdict"] = gate_name(gate.verdict);
    row["policy"] = gate.policy;
    put(row, "how", gate.how);
    put(row, "reason", gate.reason);
    put(row, "rule", gate.rule);
    put(row, "source", gate.source);
    out.push_back(std::move(row));
  }
  return out;
}

Json levers_json(const planner::Plan& plan) {
  Json out = Json::array();
  for (const planner::Lever& lever : plan.levers) {
    Json row;
    row["id"] = lever.id;
    put(row, "text", lever.text);
    row["frees_bytes"] = lever.frees.count;
    row["verdict"] = std::string(planner::verdict_name(lever.verdict));
    out.push_back(std::move(row));
  }
  return out;
}

Json published_json(const Report& report) {
  Json out = Json::array();
  for (const Published& figure : report.published) {
    Json row;
    if (figure.experts > 0) row["experts"] = figure.experts;
    row["metric"] = figure.metric;
    row["low"] = figure.low;
    row["high"] = figure.high;
    row["unit"] = figure.unit;
    put(row, "conditions", figure.conditions);
    row["source"] = figure.source;
    row["as_of"] = figure.as_of;
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace

Json result_json(const Report& report) {
  const planner::Plan& plan = report.plan;
  Json out;
  out["verdict"] = std::string(planner::verdict_name(plan.verdict));
  put(out, "binding", plan.binding);
  out["gpu"] = gpu_json(report);
  out["model"] = model_json(report);
  out["engine"] = {{"name", report.engine}, {"version", report.engine_version}};
  if (plan.settings.max_model_len > 0) out["serving"] = serving_json(plan.settings);
  out["ladder"] = ladder_json(plan);
  out["ranks"] = Json::array();
  for (const planner::Ledger& ledger : plan.ledgers) out["ranks"].push_back(ledger_json(ledger));
  out["checks"] = checks_json(plan);
  if (plan.kv.bytes_per_block.count > 0) out["kv"] = kv_json(plan.kv);
  out["gates"] = gates_json(plan);
  out["levers"] = levers_json(plan);
  if (plan.highest_safe_utilization) out["highest_safe_utilization"] = *plan.highest_safe_utilization;
  out["assumptions"] = Json::array();
  for (const std::string& text : report.defaults) out["assumptions"].push_back(printable(text));
  for (const std::string& text : plan.assumptions) out["assumptions"].push_back(printable(text));
  out["published"] = published_json(report);
  if (report.serve) out["serve"] = runtime::argument_list(*report.serve);
  return out;
}

Json json_value(const Report& report) {
  Json out;
  out["schema"] = "kvfit.plan";
  out["format_version"] = "1.0";
  out["kvfit_version"] = std::string(version_number());
  if (!report.arguments.empty()) {
    out["arguments"] = Json::array();
    for (const std::string& word : report.arguments) out["arguments"].push_back(printable(word));
  }
  out["inputs"] = Json::array();
  for (const Input& input : report.inputs) {
    out["inputs"].push_back({{"kind", input.kind}, {"id", printable(input.id)}, {"path", printable(input.origin)}});
  }
  out["result"] = result_json(report);
  out["findings"] = Json::array();
  for (const planner::Finding& finding : report.plan.findings) {
    Json row;
    row["id"] = finding.id;
    row["level"] = finding.level == planner::Finding::Level::error     ? "error"
                   : finding.level == planner::Finding::Level::warning ? "warning"
                                                                       : "note";
    row["text"] = printable(finding.text);
    put(row, "hint", finding.hint);
    out["findings"].push_back(std::move(row));
  }
  return out;
}

std::string json_text(const Json& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace kvfit::cli
