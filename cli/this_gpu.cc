#include "cli/this_gpu.h"

#include <charconv>
#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

#include "hardware/gpu_catalog.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

constexpr std::string_view kAuto = "auto";

std::size_t index_of(std::string_view name) {
  if (name == kAuto) return 0;
  const std::string_view digits = name.substr(kAuto.size() + 1);
  std::size_t out = 0;
  const std::from_chars_result read = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size()) {
    profiles::fail_input(profiles::format("cannot read --gpu {}", name), {}, "write auto, or auto:1 for the second GPU");
  }
  return out;
}

}  // namespace

bool names_this_gpu(std::string_view name) { return name == kAuto || name.starts_with("auto:"); }

runtime::Detection detection_from(const Args& args) {
  const std::optional<std::string> file = args.text("nvidia-smi");
  return file ? runtime::gpus_in_smi_file(*file) : runtime::detect_gpus();
}

ThisGpu find_this_gpu(const Args& args, const profiles::Catalog& catalog, std::string_view name) {
  ThisGpu out{.detection = detection_from(args), .found = {}, .match = {}};
  const std::size_t index = index_of(name);
  if (index >= out.detection.gpus.size()) {
    profiles::fail_input(profiles::format("no GPU {}: {} found {}", index, out.detection.source, out.detection.gpus.size()),
                         {}, "see kvfit gpus detect");
  }
  out.found = out.detection.gpus[index];
  const std::vector<hardware::Gpu> known = hardware::load_gpus(catalog);
  out.match = hardware::match_gpu(known, runtime::as_detected(out.found));
  if (!out.match.gpu) {
    profiles::fail_input(out.match.remark, {}, "write a profile (kvfit gpus show ID shows one) and give it with --gpu FILE");
  }
  return out;
}

}  // namespace kvfit::cli
