// One file of the carved checkpoint, planned to the byte: its header, and which bytes of which place of the source follow.
//
// Tensors keep the source's order. The header's padding is a pure function of the source, so that outputs are the same on
// every machine: of all lengths up to 4095 bytes above the least, the one that leaves most bytes at the same place within a
// 4096-byte block as in the source, where file systems can share them (carve/transport.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "carve/layout.h"
#include "carve/source.h"

namespace kvfit::carve {

inline constexpr std::int64_t kShareBlock = 4096;  ///< extents are shared in whole blocks of the file system
inline constexpr std::int64_t kWorthSharing = std::int64_t{64} << 10;  ///< shorter runs are copied

/// Bytes [source, source + bytes) of the source file come to stand at `target` of the output file.
struct Run {
  std::int64_t source = 0, target = 0, bytes = 0;
  std::int32_t table = -1;  ///< the block whose table these bytes are: rewritten, not copied; -1 = none
};

struct OutputShard {
  std::string name;        ///< file name
  std::int32_t shard = 0;  ///< of the source
  std::string head;        ///< the first 8 + N bytes
  std::vector<Run> runs;   ///< ascending in the target, touching, from the head's end to the file's end
  std::int64_t bytes = 0;  ///< of the whole file
  std::int64_t tensors = 0;
  std::int64_t elements = 0;  ///< of all its tensors
};

/// What stays: kept[new] = old for each block of the layout.
using Kept = std::vector<std::vector<std::int32_t>>;

enum class Padding { shareable, canonical };

/// A tensor's name after the carve.
std::string carved_name(std::string_view name, const TensorPlace& place, std::int32_t new_expert);

/// Per shard of the source: the name of its output, "" when nothing survives. Sets numbered "-of-" are numbered anew when a
/// member vanishes.
std::vector<std::string> output_names(const Source& source, const Layout& layout, const Kept& kept);

OutputShard plan_shard(const Source& source, const Layout& layout, const Kept& kept, std::int32_t shard, std::string name,
                       Padding padding);

/// Calls visit(name, output file) for each tensor that survives.
void for_each_output_tensor(const Source& source, const Layout& layout, const Kept& kept, std::int32_t shard,
                            const std::function<void(const std::string& name)>& visit);

/// Tensor bytes of the whole checkpoint with `keep` experts; an estimate where experts differ in size (EXL3 of mixed bits).
std::int64_t tensor_bytes_at(const Source& source, const Layout& layout, std::int64_t keep);

}  // namespace kvfit::carve
