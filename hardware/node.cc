#include "hardware/node.h"

#include <algorithm>

#include "profiles/text.h"

namespace kvfit::hardware {
namespace {

[[noreturn]] void no_wsl2(const Gpu& gpu) {
  profiles::fail_input(profiles::format("{} has no figures for WSL2", gpu.name), {},
                       "plan for native Linux, or add cuda_total_wsl2 and wsl2_hidden to its profile");
}

ByteRange less(const ByteRange& total, const ByteRange& used) {
  return {total.low - used.high, total.likely - used.likely, total.high - used.low};
}

}  // namespace

ByteRange total_memory(const Node& node) {
  if (node.system == System::linux_native) return node.gpu.cuda_total_linux.value;
  if (!node.gpu.cuda_total_wsl2 || !node.gpu.wsl2_hidden) no_wsl2(node.gpu);
  return node.gpu.cuda_total_wsl2->value;
}

ByteRange free_at_start(const Node& node) {
  ByteRange out = total_memory(node);
  if (node.system == System::wsl2) {
    if (!node.gpu.wsl2_hidden) no_wsl2(node.gpu);
    out = less(out, node.gpu.wsl2_hidden->value);
  } else {
    out = less(less(out, node.gpu.context.value), node.gpu.idle.value);
  }
  for (Bytes* bytes : {&out.low, &out.likely, &out.high}) *bytes = std::max(Bytes(0), *bytes - node.used_elsewhere);
  return out;
}

}  // namespace kvfit::hardware
