// One file of the carved checkpoint, planned to the byte: its header, and which bytes of which place of the source follow.
//
// Tensors keep the source's order. The header's padding is a pure function of the source, so that outputs are the same on
// every machine: of all lengths up to 4095 bytes above the least, the one that leaves most bytes at the same place within a
// 4096-byte block as in the source, where file systems can share them (carve/transport.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "carve/layout.h"
#include "carve/source.h"
#include "carve/survivors.h"

namespace kvfit::carve {

inline constexpr std::int64_t kShareBlock = 4096;  ///< extents are shared in whole blocks of the file system
inline constexpr std::int64_t kWorthSharing = std::int64_t{64} << 10;  ///< shorter runs are copied

/// Tensors [first, last) of one source file, counted by the place of their data; those that a carve drops are among them.
struct TensorSpan {
  std::int32_t shard = 0;
  std::uint32_t first = 0, last = 0;
};

/// Bytes [source, source + bytes) of a source file come to stand at `target` of the output file.
struct Run {
  std::int64_t source = 0, target = 0, bytes = 0;
  std::int32_t shard = 0;   ///< of the source
  std::int32_t table = -1;  ///< the block whose table these bytes are: rewritten, not copied; -1 = none
};

struct OutputShard {
  std::string head;                ///< the first 8 + N bytes
  std::vector<Run> runs;           ///< ascending in the target, touching, from the head's end to the file's end
  std::vector<std::int64_t> ends;  ///< of each tensor's data in the file, in the order of the header
  std::int64_t bytes = 0;          ///< of the whole file
  std::int64_t elements = 0;       ///< of all its tensors
};

enum class Padding { shareable, canonical };

/// `spans` is not empty, and their files have the same metadata.
OutputShard plan_shard(const Survivors& survivors, const std::vector<TensorSpan>& spans, Padding padding);

/// Calls visit(name) for each tensor of the spans that survives.
void for_each_output_tensor(const Survivors& survivors, const std::vector<TensorSpan>& spans,
                            const std::function<void(std::string name)>& visit);

/// Tensor bytes of the whole checkpoint with `keep` experts; an estimate where experts differ in size (EXL3 of mixed bits).
std::int64_t tensor_bytes_at(const Source& source, const Layout& layout, std::int64_t keep);

}  // namespace kvfit::carve
