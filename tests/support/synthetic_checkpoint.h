// Writes checkpoints that look real to a reader of headers: true names, dtypes and shapes from an inventory, canonical
// order, shards and an index. Data is a hole in the file (sparse, so a 70 GB checkpoint costs its headers) unless filled.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/tensor_inventory.h"
#include "profiles/dtype.h"

namespace kvfit::tests {

struct SyntheticTensor {
  std::string name;
  profiles::DType dtype = profiles::DType::bf16;
  std::vector<std::int64_t> shape;
};

struct SyntheticOptions {
  int shards = 1;     ///< 1: model.safetensors and no index; more: model-0000i-of-0000n and an index
  bool fill = false;  ///< data bytes that depend on name and place, for comparing what a carve kept
};

/// One file: __metadata__ {"format":"pt"}, entries by dtype (widest first) then name, header padded to 8 bytes.
void write_safetensors(const std::string& path, const std::vector<SyntheticTensor>& tensors, bool fill = false);

/// A whole checkpoint below `directory`, which must exist. Tensors are spread over the shards in the order of their names.
void write_checkpoint(const models::TensorInventory& inventory, const std::string& directory, SyntheticOptions options = {});

/// The byte `fill` writes at `offset` of a tensor.
unsigned char synthetic_byte(const std::string& tensor, std::int64_t offset);

/// N as eight bytes, little-endian, then `header`, then `data` zero bytes: a file in memory, however wrong.
std::string safetensors_bytes(const std::string& header, std::size_t data);

}  // namespace kvfit::tests
