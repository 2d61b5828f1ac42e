#include "hardware/node.h"

namespace kvfit::hardware {

ByteRange total_memory(const Node& node) {
  return node.system == System::wsl2 ? node.gpu.cuda_total_wsl2.value : node.gpu.cuda_total_linux.value;
}

ByteRange free_at_start(const Node& node) {
  const ByteRange total = total_memory(node);
  const ByteRange& context = node.gpu.context.value;
  const ByteRange& idle = node.gpu.idle.value;
  ByteRange out{total.low - context.high - idle.high - node.used_elsewhere,
                total.likely - context.likely - idle.likely - node.used_elsewhere,
                total.high - context.low - idle.low - node.used_elsewhere};
  if (node.system == System::wsl2) {
    const ByteRange& hidden = node.gpu.wsl2_hidden.value;
    out.low -= hidden.high;
    out.likely -= hidden.likely;
    out.high -= hidden.low;
  }
  return out;
}

}  // namespace kvfit::hardware
