#include "planner/machine_entries.h"

#include <vector>

#include "hardware/gpu.h"

namespace kvfit::planner {
namespace {

using hardware::ByteRange;
using hardware::Fact;

Entry entry(const char* label, const char* text, const Fact<ByteRange>& fact) {
  return {.label = label,
          .text = text,
          .section = Section::before_engine,
          .bytes = fact.value.likely,
          .error = Bytes((fact.value.high.count - fact.value.low.count) / 2),
          .provenance = fact.sourced ? Provenance::measured : Provenance::assumed,
          .source = fact.source};
}

}  // namespace

std::vector<Entry> machine_entries(const hardware::Node& node) {
  std::vector<Entry> out;
  const hardware::Gpu& gpu = node.gpu;
  if (node.system == hardware::System::wsl2) {
    out.push_back(entry("machine.hidden", "kept by Windows, context included", *gpu.wsl2_hidden));
  } else {
    if (gpu.context.value.likely.count > 0) out.push_back(entry("machine.context", "CUDA context", gpu.context));
    out.push_back(entry("machine.idle", gpu.unified ? "system and page cache, context included" : "idle machine", gpu.idle));
  }
  if (node.used_elsewhere.count > 0) {
    out.push_back({.label = "machine.other",
                   .text = "other programs",
                   .section = Section::before_engine,
                   .bytes = node.used_elsewhere,
                   .provenance = Provenance::assumed,
                   .source = "stated"});
  }
  return out;
}

}  // namespace kvfit::planner
