// Reading the headers of a checkpoint as large as DeepSeek-V3: 91,991 tensors in 163 files, data left as holes.
#pragma once

#include <string>

namespace kvfit::bench {

/// Names, types and shapes as deepseek-ai/DeepSeek-V3 publishes them (model.safetensors.index.json, 61 layers and one MTP
/// layer), spread evenly over 163 files.
void make_checkpoint(const std::string& directory);

struct InventoryCost {
  double milliseconds = 0;  ///< CPU time, best of five, files in the page cache
  double peak_mib = 0;      ///< resident, of this whole process
  long long tensors = 0;
};
InventoryCost read_checkpoint_headers(const std::string& directory);

}  // namespace kvfit::bench
