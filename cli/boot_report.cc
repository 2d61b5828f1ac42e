#include "cli/boot_report.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "cli/words.h"
#include "profiles/json.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using planner::Verdict;
using profiles::format;
using profiles::Json;
using runtime::BootCheck;
using runtime::EntryState;
using runtime::MeasuredEntry;

std::string_view state_name(EntryState state) {
  switch (state) {
    case EntryState::held:
      return "held";
    case EntryState::damaged:
      return "damaged";
    case EntryState::refused:
      return "refused";
    case EntryState::capped:
      return "capped";
    case EntryState::untried:
      return "untried";
  }
  return "untried";
}

Tone state_tone(EntryState state) {
  if (state == EntryState::held) return Tone::good;
  return state == EntryState::damaged || state == EntryState::refused ? Tone::bad : Tone::warn;
}

bool is_bytes(const BootCheck& check) { return check.unit == BootCheck::Unit::bytes; }

// GiB, or GB/s; small byte counts as they are.
std::string figure(const BootCheck& check, double value) {
  if (check.unit == BootCheck::Unit::number) return format("{:g}", value);
  if (!is_bytes(check)) return format("{:.{}f} GB/s", value / 1e9, value < 1e10 ? 2 : 0);
  if (check.id == "contents") return format("{:.0f} B", value);
  return format("{:.2f} GiB", value / 0x1p30);
}

std::string difference(const BootCheck& check) {
  if (!check.has_planned || check.unit == BootCheck::Unit::number) return "";
  if (!is_bytes(check)) return format("{:+.0f} %", (check.measured / check.planned - 1) * 100);
  if (check.id == "contents") return "";
  const double gib_off = (check.measured - check.planned) / 0x1p30;
  return std::fabs(gib_off) < 0.005 ? "0.00" : format("{:+.2f}", gib_off);
}

Table check_table(const BootReport& report) {
  Table out;
  out.columns = {{""},
                 {"check", Align::left, true},
                 {"planned", Align::right},
                 {"measured", Align::right},
                 {"difference", Align::right}};
  for (const BootCheck& check : report.checks) {
    out.rows.push_back({{std::string(verdict_word(check.verdict)), verdict_tone(check.verdict)},
                        {check.text},
                        {check.has_planned ? figure(check, check.planned) : "-"},
                        {figure(check, check.measured)},
                        {difference(check)}});
  }
  return out;
}

Table entry_table(const BootReport& report) {
  const auto rate = [](double value) { return value > 0 ? format("{:.0f}", value / 1e9) : std::string("-"); };
  Table out;
  out.columns = {
      {""}, {"entry", Align::left, true}, {"GiB", Align::right}, {"write GB/s", Align::right}, {"read GB/s", Align::right}};
  for (const MeasuredEntry& entry : report.measured.entries) {
    out.rows.push_back({{std::string(state_name(entry.state)), state_tone(entry.state)},
                        {printable(entry.entry.text)},
                        {gib(entry.entry.bytes)},
                        {rate(entry.write_rate)},
                        {rate(entry.read_rate)}});
  }
  return out;
}

std::string headline_of(const BootReport& report) {
  const runtime::BootMeasurement& m = report.measured;
  if (const MeasuredEntry* failed = runtime::failed_entry(m)) {
    return format("does not fit: no memory for {} ({} GiB), {} GiB were held", printable(failed->entry.text),
                  gib(failed->entry.bytes), gib(m.held));
  }
  const Verdict verdict = verdict_of(report);
  for (const BootCheck& check : report.checks) {
    if (check.verdict != verdict || verdict == Verdict::fits) continue;
    return format("{}: {}", verdict == Verdict::tight ? "holds, with a doubt" : "does not hold", check.text);
  }
  return format("holds: {} GiB allocated, written and read back", gib(m.held));
}

std::string largest_text(const BootReport& report, const Screen& screen) {
  if (!report.largest) return "";
  const planner::Plan& plan = report.largest->plan;
  std::string out = "\n" + paint("The largest plan that would", Tone::strong, screen) + "\n";
  if (plan.verdict != Verdict::fits && plan.verdict != Verdict::tight) {
    return out + "  none: even the smallest does not fit what this machine gave\n";
  }
  std::string line = model_name(*report.largest);
  line += format(", {} tokens, {} sequences, utilisation {:.4g}", profiles::grouped(plan.settings.max_model_len),
                 plan.settings.max_num_seqs, plan.settings.gpu_memory_utilization);
  const std::string_view word = verdict_word(plan.verdict);
  return out + "  " + paint(word, verdict_tone(plan.verdict), screen) + "  " +
         wrap(printable(line), screen.width, static_cast<int>(word.size()) + 4) + "\n";
}

std::string body_text(const BootReport& report, const Screen& screen) {
  const Verdict verdict = verdict_of(report);
  std::string out = paint(verdict_word(verdict), verdict_tone(verdict), screen);
  out += "  " + wrap(headline_of(report), screen.width, static_cast<int>(verdict_word(verdict).size()) + 2) + "\n\n";
  out += render(check_table(report), screen);
  for (const BootCheck& check : report.checks) {
    if (check.remark.empty()) continue;
    out += "\n" + paint(check.id, verdict_tone(check.verdict), screen) + ": ";
    out += wrap(printable(check.remark), screen.width, static_cast<int>(check.id.size()) + 2) + "\n";
  }
  out += "\n" + paint("Entries, in the order they were allocated", Tone::strong, screen) + "\n";
  out += render(entry_table(report), screen) + largest_text(report, screen);
  for (const std::string& remark : report.remarks) out += "\nnote: " + wrap(printable(remark), screen.width, 6) + "\n";
  return out;
}

std::string_view unit_name(BootCheck::Unit unit) {
  switch (unit) {
    case BootCheck::Unit::bytes:
      return "bytes";
    case BootCheck::Unit::bytes_per_second:
      return "bytes_per_second";
    case BootCheck::Unit::number:
      return "number";
  }
  return "number";
}

Json checks_json(const BootReport& report) {
  Json out = Json::array();
  for (const BootCheck& check : report.checks) {
    Json row = {{"id", check.id}, {"unit", unit_name(check.unit)}, {"verdict", planner::verdict_name(check.verdict)}};
    if (check.unit == BootCheck::Unit::number) {
      row["planned"] = check.planned;
      row["measured"] = check.measured;
    } else {
      if (check.has_planned) row["planned"] = std::llround(check.planned);
      row["measured"] = std::llround(check.measured);
      if (check.has_planned) row["difference"] = std::llround(check.measured) - std::llround(check.planned);
    }
    if (!check.remark.empty()) row["remark"] = printable(check.remark);
    out.push_back(std::move(row));
  }
  return out;
}

Json entries_json(const BootReport& report) {
  Json out = Json::array();
  for (const MeasuredEntry& entry : report.measured.entries) {
    Json row = {{"label", entry.entry.label},
                {"section", section_name(entry.entry.section)},
                {"bytes", entry.entry.bytes.count},
                {"state", state_name(entry.state)},
                {"obtained_bytes", entry.obtained.count}};
    if (entry.write_rate > 0) row["write_bytes_per_second"] = std::llround(entry.write_rate);
    if (entry.read_rate > 0) row["read_bytes_per_second"] = std::llround(entry.read_rate);
    if (entry.state == EntryState::damaged) {
      row["mismatched_words"] = entry.mismatches;
      row["first_bad_offset"] = entry.first_bad.count;
    }
    out.push_back(std::move(row));
  }
  return out;
}

Json device_json(const BootReport& report) {
  const runtime::CudaDevice& device = report.measured.device;
  return {{"name", printable(device.name)},
          {"uuid", device.uuid},
          {"pci_bus_id", printable(device.pci_bus_id)},
          {"compute_capability", format("{}.{}", device.capability.major, device.capability.minor)},
          {"total_bytes", report.measured.total.count},
          {"free_at_start_bytes", report.measured.free_at_start.count},
          {"unified", device.unified},
          {"mig", device.mig},
          {"mps", device.mps},
          {"cuda_version", runtime::cuda_version_text(report.cuda_version)},
          {"driver_library", printable(report.driver_library)},
          {"system", report.wsl2 ? "wsl2" : "linux"}};
}

Json largest_json(const Report& report) {
  const planner::Plan& plan = report.plan;
  Json out = {{"verdict", planner::verdict_name(plan.verdict)}};
  if (plan.verdict != Verdict::fits && plan.verdict != Verdict::tight) return out;
  if (plan.experts > 0) out["experts"] = plan.experts;
  out["max_model_len"] = plan.settings.max_model_len;
  out["max_num_seqs"] = plan.settings.max_num_seqs;
  out["gpu_memory_utilization"] = plan.settings.gpu_memory_utilization;
  return out;
}

Json result_json(const BootReport& report) {
  Json out = {{"mode", "memory"},
              {"verdict", planner::verdict_name(verdict_of(report))},
              {"plan", printable(report.what)},
              {"gpu", report.gpu}};
  out["device"] = device_json(report);
  out["checks"] = checks_json(report);
  out["entries"] = entries_json(report);
  out["held_bytes"] = report.measured.held.count;
  if (report.measured.cap) {
    out["cap"] = {{"bytes", report.measured.cap->count}, {"reason", report.measured.cap_reason}};
  }
  if (const MeasuredEntry* failed = runtime::failed_entry(report.measured)) {
    out["failed"] = {
        {"label", failed->entry.label}, {"bytes", failed->entry.bytes.count}, {"obtained_bytes", failed->obtained.count}};
  }
  if (report.expert_tensor) out["expert_tensor"] = printable(*report.expert_tensor);
  if (report.largest) out["largest"] = largest_json(*report.largest);
  out["remarks"] = report.remarks;
  return out;
}

}  // namespace

Verdict verdict_of(const BootReport& report) { return runtime::boot_verdict(report.checks); }

Listing boot_listing(const BootReport& report) {
  Listing out{.schema = "kvfit.boot", .value = result_json(report)};
  const runtime::CudaDevice& device = report.measured.device;
  out.heading = format("{}\non {}, CUDA {}{}\n\n", printable(report.what), printable(device.name),
                       runtime::cuda_version_text(report.cuda_version), report.wsl2 ? ", WSL2" : "");
  out.body = [&report](const Screen& screen) { return body_text(report, screen); };
  return out;
}

}  // namespace kvfit::cli
