#include "tests/support/synthetic_checkpoint.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::tests {
namespace {

using profiles::DType;
using profiles::format;

std::int64_t byte_count(const SyntheticTensor& tensor) {
  models::Tensor same;
  same.dtype = tensor.dtype;
  same.shape = tensor.shape;
  return same.bytes_each().count;
}

// The reference writer's order: dtypes from wide to narrow, then names.
std::vector<SyntheticTensor> canonical(std::vector<SyntheticTensor> tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const SyntheticTensor& a, const SyntheticTensor& b) {
    const int bits_a = profiles::bits(a.dtype);
    const int bits_b = profiles::bits(b.dtype);
    if (bits_a != bits_b) return bits_a > bits_b;
    return a.dtype != b.dtype ? a.dtype > b.dtype : a.name < b.name;
  });
  return tensors;
}

std::string length_prefix(std::uint64_t n) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(static_cast<unsigned char>(n >> (8 * i)));
  return out;
}

std::string header_of(const std::vector<SyntheticTensor>& tensors) {
  std::string out = R"({"__metadata__":{"format":"pt"})";
  std::int64_t at = 0;
  for (const SyntheticTensor& tensor : tensors) {
    const std::int64_t end = at + byte_count(tensor);
    out += format(R"(,"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", tensor.name,
                  profiles::safetensors_name(tensor.dtype), profiles::join(tensor.shape, ","), at, end);
    at = end;
  }
  out += '}';
  out.append((8 - out.size() % 8) % 8, ' ');
  return out;
}

void fill_tensor(std::ofstream& file, const SyntheticTensor& tensor) {
  const std::int64_t bytes = byte_count(tensor);
  for (std::int64_t i = 0; i < bytes; ++i) file.put(static_cast<char>(synthetic_byte(tensor.name, i)));
}

}  // namespace

unsigned char synthetic_byte(const std::string& tensor, std::int64_t offset) {
  std::uint64_t hash = 1469598103934665603U;  // FNV-1a, so that every machine writes the same bytes
  for (const char c : tensor) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  hash = (hash ^ static_cast<std::uint64_t>(offset)) * 1099511628211U;
  return static_cast<unsigned char>(hash >> 32U);
}

std::string safetensors_bytes(const std::string& header, std::size_t data) {
  return length_prefix(header.size()) + header + std::string(data, '\0');
}

void write_safetensors(const std::string& path, const std::vector<SyntheticTensor>& tensors, bool fill) {
  const std::vector<SyntheticTensor> ordered = canonical(tensors);
  const std::string header = header_of(ordered);
  std::int64_t size = static_cast<std::int64_t>(8 + header.size());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << length_prefix(header.size()) << header;
  for (const SyntheticTensor& tensor : ordered) {
    size += byte_count(tensor);
    if (fill) fill_tensor(file, tensor);
  }
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
  std::filesystem::resize_file(path, static_cast<std::uintmax_t>(size));
}

void write_checkpoint(const models::TensorInventory& inventory, const std::string& directory, SyntheticOptions options) {
  std::vector<SyntheticTensor> tensors;
  models::for_each_tensor(inventory, [&tensors](const std::string& name, const models::Tensor& tensor) {
    tensors.push_back({name, tensor.dtype, tensor.shape});
  });
  if (options.shards == 1) return write_safetensors(directory + "/model.safetensors", tensors, options.fill);

  const std::size_t shards = static_cast<std::size_t>(options.shards);
  std::string map;
  for (std::size_t i = 0; i < shards; ++i) {
    const auto from = tensors.begin() + static_cast<std::ptrdiff_t>(tensors.size() * i / shards);
    const auto to = tensors.begin() + static_cast<std::ptrdiff_t>(tensors.size() * (i + 1) / shards);
    const std::string name = format("model-{:05}-of-{:05}.safetensors", i + 1, shards);
    const std::vector<SyntheticTensor> part(from, to);
    write_safetensors(directory + "/" + name, part, options.fill);
    for (const SyntheticTensor& tensor : part)
      map += format("{}\"{}\": \"{}\"", map.empty() ? "" : ",\n    ", tensor.name, name);
  }
  std::ofstream(directory + "/model.safetensors.index.json")
      << format("{{\n  \"metadata\": {{\n    \"total_size\": {}\n  }},\n  \"weight_map\": {{\n    {}\n  }}\n}}\n",
                inventory.total().count, map);
}

}  // namespace kvfit::tests
