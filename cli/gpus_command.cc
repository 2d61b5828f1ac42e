// kvfit gpus [list [WORD...] | show ID | detect | lint [FILE...]]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/catalog_access.h"
#include "cli/commands.h"
#include "cli/gpus_detect.h"
#include "cli/listing.h"
#include "cli/table.h"
#include "cli/words.h"
#include "hardware/gpu_catalog.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/json.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using hardware::FactRow;
using hardware::Gpu;
using profiles::Bytes;
using profiles::format;
using profiles::Json;

std::string capability_text(const Gpu& gpu) { return format("{}.{}", gpu.capability.major, gpu.capability.minor); }

Json summary_json(const Gpu& gpu) {
  Json out;
  out["id"] = gpu.id;
  out["name"] = gpu.name;
  out["compute_capability"] = capability_text(gpu);
  out["unified"] = gpu.unified;
  out["cuda_total_bytes"] = gpu.cuda_total_linux.value.likely.count;
  if (gpu.bandwidth.value > 0) out["bandwidth_bytes_per_second"] = gpu.bandwidth.value;
  out["aliases"] = gpu.aliases;
  out["driver_names"] = gpu.driver_names;
  out["as_of"] = gpu.as_of;
  return out;
}

int list(const Args& args, const Console& console, const profiles::Catalog& catalog) {
  const std::vector<Gpu> gpus = hardware::load_gpus(catalog);
  Listing listing{.schema = "kvfit.gpus", .value = Json::array()};
  listing.table.columns = {
      {"id"}, {"name", Align::left, true}, {"sm", Align::right}, {"GiB", Align::right}, {"GB/s", Align::right}, {""}};
  for (const Gpu& gpu : gpus) {
    std::vector<std::string> names = gpu.aliases;
    names.insert(names.end(), {gpu.id, gpu.name});
    if (!listed(args, names)) continue;
    listing.value.push_back(summary_json(gpu));
    const std::string speed = gpu.bandwidth.value > 0 ? format("{:.0f}", gpu.bandwidth.value / 1e9) : "-";
    listing.table.rows.push_back({{gpu.id},
                                  {gpu.name},
                                  {capability_text(gpu)},
                                  {gib(gpu.cuda_total_linux.value.likely)},
                                  {speed},
                                  {gpu.unified ? "unified" : ""}});
  }
  refuse_empty(args, listing);
  deliver(args, console, listing);
  return kYes;
}

// Bytes in GiB, rates in GB/s; a range as "low .. likely .. high".
std::string fact_text(const FactRow& row) {
  const auto shown = [&row](double value) {
    if (row.unit == "bytes" && value < 0x1p20) return format("{:.0f} B", value);
    if (row.unit == "bytes" && value < 0x1p30) return format("{:.0f} MiB", value / 0x1p20);
    if (row.unit == "bytes") return format("{:.2f} GiB", value / 0x1p30);
    if (row.unit == "bytes_per_second") return format("{:.0f} GB/s", value / 1e9);
    if (row.unit == "watts") return format("{:.0f} W", value);
    return format("{:g}", value);
  };
  if (row.low == row.high) return shown(row.likely);
  return format("{} .. {} .. {}", shown(row.low), shown(row.likely), shown(row.high));
}

// Key, value and provenance on one line, the source below it.
std::string facts_text(const Gpu& gpu, const Screen& screen) {
  std::string out = "\n";
  for (const FactRow& row : hardware::facts_of(gpu)) {
    const Tone tone = row.provenance == "unsourced" ? Tone::warn : Tone::plain;
    out += format("  {:<20} {:<38} {}\n", row.key, fact_text(row), paint(row.provenance, tone, screen));
    if (row.source.empty()) continue;
    const std::string source = wrap(printable(row.source), screen.width, 6);
    out += "      " + paint(source, Tone::dim, screen) + "\n";
  }
  for (const std::string& note : gpu.notes) out += "\nnote: " + wrap(note, screen.width, 6) + "\n";
  return out;
}

int show(const Args& args, const Console& console, const profiles::Catalog& catalog) {
  const Gpu gpu = hardware::load_gpu(catalog, only_word(args, "kvfit gpus show ID"));
  Listing listing{.schema = "kvfit.gpu", .value = summary_json(gpu)};
  listing.heading =
      format("{}  {}\ncompute capability {}, facts as of {}\n", gpu.id, gpu.name, capability_text(gpu), gpu.as_of);
  if (!gpu.aliases.empty()) listing.heading += format("also: {}\n", profiles::join(gpu.aliases, ", "));
  for (const std::string& name : gpu.driver_names) listing.heading += format("driver name: {}\n", name);
  listing.value["facts"] = Json::array();
  for (const FactRow& row : hardware::facts_of(gpu)) {
    Json fact = {{"key", row.key},       {"unit", row.unit}, {"low", row.low},
                 {"likely", row.likely}, {"high", row.high}, {"provenance", row.provenance}};
    if (!row.source.empty()) fact["source"] = row.source;
    listing.value["facts"].push_back(std::move(fact));
  }
  listing.value["notes"] = gpu.notes;
  listing.body = [gpu](const Screen& screen) { return facts_text(gpu, screen); };
  deliver(args, console, listing);
  return kYes;
}

std::vector<LintLine> lint_files(const std::vector<std::string>& files) {
  std::vector<LintLine> out;
  for (const std::string& file : files) {
    try {
      (void)hardware::read_gpu(profiles::parse_yaml(profiles::read_text_file(file), file));
    } catch (const profiles::Error& error) {
      out.push_back({file, error.text()});
    }
  }
  return out;
}

int lint(const Args& args, const Console& console, const profiles::Catalog& catalog) {
  const std::vector<std::string> files(args.words.begin() + 1, args.words.end());
  std::vector<LintLine> lines = lint_files(files);
  if (files.empty()) {
    for (const hardware::LintFinding& finding : hardware::lint_gpus(catalog))
      lines.push_back({finding.profile, finding.text});
  }
  return report_lint(args, console, lines, files.empty() ? catalog.list("hardware").size() : files.size(),
                     "hardware profile");
}

}  // namespace

int gpus_command(const Args& args, const Console& console) {
  const profiles::Catalog catalog = open_catalog(args, process_environment());
  const std::string word = args.words.empty() ? "list" : args.words.front();
  if (word == "list") return list(args, console, catalog);
  if (word == "show") return show(args, console, catalog);
  if (word == "detect") return gpus_detect(args, console, catalog);
  if (word == "lint") return lint(args, console, catalog);
  unknown_word(args, {"list", "show", "detect", "lint"});
}

}  // namespace kvfit::cli
