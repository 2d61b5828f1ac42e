// Which tensors of the source come into which file of the output, and what the files are called. Two ways:
//
//   as the source is divided   one output a source file; names stay, and sets numbered "-of-" are numbered anew when a
//                              member vanishes
//   in files of a size         whole tensors in the source's order, model-00001-of-0000N.safetensors; one file alone is
//                              model.safetensors, without an index
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "carve/output_shard.h"
#include "carve/survivors.h"

namespace kvfit::carve {

/// One weights file; its header and runs are planned again when it is written, so that a plan stays small.
struct OutputFile {
  std::string name;
  std::vector<TensorSpan> spans;                                      ///< not empty
  std::int64_t bytes = 0, head_bytes = 0, tensors = 0, elements = 0;  ///< 0 until plan_carve() has planned it
  std::int64_t shareable_bytes = 0;                                   ///< of these, where the file system shares extents
};

/// As the source is divided.
std::vector<OutputFile> outputs_as_source(const Survivors& survivors);

/// Files of at most `most_bytes`, header included. A larger tensor has a file of its own; tensors of source files with
/// different
/// __metadata__ never share one. Error when that makes more than 99,999 files.
std::vector<OutputFile> outputs_of_size(const Survivors& survivors, std::int64_t most_bytes);

}  // namespace kvfit::carve
