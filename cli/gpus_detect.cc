#include "cli/gpus_detect.h"

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/listing.h"
#include "cli/this_gpu.h"
#include "hardware/gpu_catalog.h"
#include "profiles/error.h"
#include "profiles/json.h"
#include "profiles/text.h"
#include "runtime/detect.h"

namespace kvfit::cli {
namespace {

using hardware::GpuMatch;
using hardware::MatchKind;
using profiles::format;
using profiles::Json;
using runtime::Detection;
using runtime::Difference;
using runtime::FoundGpu;

std::string_view match_name(MatchKind kind) {
  switch (kind) {
    case MatchKind::exact:
      return "exact";
    case MatchKind::name_only:
      return "name_only";
    case MatchKind::similar:
      return "similar";
    case MatchKind::none:
      return "none";
  }
  return "none";
}

std::vector<Difference> differences(const FoundGpu& found, const GpuMatch& match, const Detection& detection) {
  if (!match.gpu) return {};
  return runtime::compare_with_profile(found, *match.gpu, detection.system.value_or(hardware::System::linux_native));
}

std::string state_of(const FoundGpu& gpu) {
  std::vector<std::string> out;
  if (gpu.cuda && gpu.cuda->unified) out.emplace_back("unified memory");
  if (gpu.cuda ? gpu.cuda->mig : gpu.nvml && gpu.nvml->mig) {
    out.emplace_back(gpu.cuda ? "a MIG slice" : "cut into MIG slices: their sizes are CUDA's to say");
  }
  if (gpu.cuda && gpu.cuda->mps) out.emplace_back("served by MPS: its limit shows only when memory is taken");
  if (gpu.cuda && gpu.cuda->watchdog) out.emplace_back("a display's watchdog ends long kernels");
  return format("{}", profiles::join(out, ", "));
}

Json gpu_json(std::size_t index, const FoundGpu& gpu, const GpuMatch& match, const Detection& detection) {
  Json out = {{"index", index}, {"name", printable(gpu.name)}};
  if (!gpu.uuid.empty()) out["uuid"] = printable(gpu.uuid);
  if (!gpu.pci_bus_id.empty()) out["pci_bus_id"] = printable(gpu.pci_bus_id);
  if (gpu.capability.number() > 0) {
    out["compute_capability"] = format("{}.{}", gpu.capability.major, gpu.capability.minor);
  }
  if (gpu.cuda) out["cuda_total_bytes"] = gpu.cuda->total.count;
  if (gpu.nvml && gpu.nvml->total.count > 0) out["nvml_total_bytes"] = gpu.nvml->total.count;
  if (gpu.nvml && gpu.nvml->used) out["used_bytes"] = gpu.nvml->used->count;
  out["unified"] = gpu.cuda && gpu.cuda->unified;
  out["mig"] = gpu.cuda ? gpu.cuda->mig : gpu.nvml && gpu.nvml->mig;
  out["mps"] = gpu.cuda && gpu.cuda->mps;
  if (match.gpu) out["profile"] = match.gpu->id;
  out["match"] = match_name(match.kind);
  if (!match.remark.empty()) out["remark"] = printable(match.remark);
  out["facts"] = Json::array();
  for (const Difference& row : differences(gpu, match, detection)) {
    out["facts"].push_back({{"key", row.key}, {"profile", row.profile}, {"found", row.found}, {"differs", row.differs}});
  }
  return out;
}

std::string gpu_text(std::size_t index, const FoundGpu& gpu, const GpuMatch& match, const Detection& detection,
                     const Screen& screen) {
  std::string out = paint(format("{}  {}", index, printable(gpu.name)), Tone::strong, screen);
  if (!gpu.pci_bus_id.empty()) out += format("  at {}", printable(gpu.pci_bus_id));
  out += "\n";
  if (!gpu.uuid.empty()) out += format("   {}\n", printable(gpu.uuid));
  if (const std::string state = state_of(gpu); !state.empty()) out += format("   {}\n", state);
  if (match.gpu) {
    out += format("   profile {} ({})\n", match.gpu->id,
                  match.kind == MatchKind::exact       ? "name and total agree"
                  : match.kind == MatchKind::name_only ? "by its name only"
                                                       : "another name, alike in size");
  } else {
    out += "   " + paint("no profile", Tone::warn, screen) + "\n";
  }
  if (!match.remark.empty()) out += "   " + wrap(printable(match.remark), screen.width, 3) + "\n";
  Table table{.indent = 5, .columns = {{"", Align::left}, {"profile", Align::right}, {"found", Align::right}, {""}}};
  for (const Difference& row : differences(gpu, match, detection)) {
    table.rows.push_back({{row.text}, {row.profile}, {row.found}, {row.differs ? "differs" : "", Tone::warn}});
  }
  return out + (table.rows.empty() ? "" : render(table, screen));
}

// "1 GPU (NVML and CUDA; driver 580.95.05, CUDA 13.0)".
std::string heading(const Detection& detection) {
  std::vector<std::string> versions;
  if (!detection.driver_version.empty()) versions.push_back("driver " + printable(detection.driver_version));
  if (detection.cuda_version > 0) versions.push_back("CUDA " + runtime::cuda_version_text(detection.cuda_version));
  if (detection.system == hardware::System::wsl2) versions.emplace_back("WSL2");
  return format("{} GPU{} ({}{}{})\n", detection.gpus.size(), detection.gpus.size() == 1 ? "" : "s",
                printable(detection.source), versions.empty() ? "" : "; ", profiles::join(versions, ", "));
}

}  // namespace

int gpus_detect(const Args& args, const Console& console, const profiles::Catalog& catalog) {
  if (args.words.size() > 1) {
    profiles::fail_input(format("'detect' takes no word, not '{}'", args.words[1]), {}, "see kvfit gpus --help");
  }
  const Detection detection = detection_from(args);
  const std::vector<hardware::Gpu> known = hardware::load_gpus(catalog);
  std::vector<GpuMatch> matches;
  Listing listing{.schema = "kvfit.gpus.detected", .value = Json::object()};
  listing.value["source"] = printable(detection.source);
  if (!detection.driver_version.empty()) listing.value["driver_version"] = printable(detection.driver_version);
  if (detection.cuda_version > 0) listing.value["cuda_version"] = runtime::cuda_version_text(detection.cuda_version);
  if (detection.system) listing.value["system"] = *detection.system == hardware::System::wsl2 ? "wsl2" : "linux";
  listing.value["gpus"] = Json::array();
  for (std::size_t i = 0; i < detection.gpus.size(); ++i) {
    matches.push_back(hardware::match_gpu(known, runtime::as_detected(detection.gpus[i])));
    listing.value["gpus"].push_back(gpu_json(i, detection.gpus[i], matches.back(), detection));
  }
  listing.value["remarks"] = detection.remarks;
  listing.heading = heading(detection);
  listing.body = [&detection, &matches](const Screen& screen) {
    std::string out;
    for (std::size_t i = 0; i < matches.size(); ++i) {
      out += "\n" + gpu_text(i, detection.gpus[i], matches[i], detection, screen);
    }
    for (const std::string& remark : detection.remarks) out += "\nnote: " + wrap(printable(remark), screen.width, 6) + "\n";
    return out;
  };
  deliver(args, console, listing);
  return kYes;
}

}  // namespace kvfit::cli
