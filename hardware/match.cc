#include "hardware/match.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "profiles/text.h"

namespace kvfit::hardware {
namespace {

using profiles::format;

bool same_text(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

bool has_name(const Gpu& gpu, std::string_view name) {
  return std::any_of(gpu.driver_names.begin(), gpu.driver_names.end(),
                     [name](std::string_view known) { return same_text(known, name); });
}

// NVML's total where the profile has it; CUDA's lies 0.3 to 3 % below, near enough to choose between variants.
Bytes expected_total(const Gpu& gpu) { return gpu.nvml_total ? gpu.nvml_total->value : gpu.cuda_total_linux.value.likely; }

std::int64_t distance(const Gpu& gpu, Bytes total) { return std::llabs(expected_total(gpu).count - total.count); }

bool within_one_percent(const Gpu& gpu, Bytes total) { return distance(gpu, total) <= expected_total(gpu).count / 100; }

std::string mib_text(Bytes bytes) { return format("{} MiB", bytes.count / profiles::kMiB); }

template <typename Wanted>
const Gpu* nearest_of(std::span<const Gpu> gpus, Bytes total, Wanted wanted) {
  const Gpu* best = nullptr;
  for (const Gpu& gpu : gpus) {
    if (wanted(gpu) && (!best || distance(gpu, total) < distance(*best, total))) best = &gpu;
  }
  return best;
}

}  // namespace

GpuMatch match_gpu(std::span<const Gpu> gpus, const DetectedGpu& detected) {
  const std::size_t mig = detected.name.find(" MIG ");
  const std::string name = detected.name.substr(0, mig);
  const Gpu* named = nearest_of(gpus, detected.total, [&name](const Gpu& gpu) { return has_name(gpu, name); });
  if (named && mig != std::string::npos) {
    return {MatchKind::name_only, *named, format("a MIG slice of {}: take CUDA's own total", named->name)};
  }
  if (named && (named->unified || within_one_percent(*named, detected.total))) return {MatchKind::exact, *named, {}};
  if (named && detected.total.count == 0) {
    return {MatchKind::name_only, *named, format("the total was not read: taken as {}", named->name)};
  }
  if (named) {
    return {MatchKind::name_only, *named,
            format("{} has {}, this one {}: another variant, so take CUDA's own total", named->name,
                   mib_text(expected_total(*named)), mib_text(detected.total))};
  }
  const Gpu* similar = nearest_of(gpus, detected.total, [&detected](const Gpu& gpu) {
    return gpu.capability == detected.capability && gpu.unified == detected.unified && !gpu.unified &&
           within_one_percent(gpu, detected.total);
  });
  if (similar) {
    return {
        MatchKind::similar, *similar,
        format("no profile is named '{}': memory taken from {}, its speed does not apply", detected.name, similar->name)};
  }
  return {MatchKind::none, std::nullopt,
          format("no profile is named '{}', and none of capability {}.{} has {}", detected.name, detected.capability.major,
                 detected.capability.minor, mib_text(detected.total))};
}

}  // namespace kvfit::hardware
