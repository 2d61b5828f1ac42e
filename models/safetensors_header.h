// The header of one safetensors file: every tensor's name, dtype, shape and place. Only the header is read (8 + N bytes);
// tensor data is never touched.
//
// Format (huggingface/safetensors README): bytes 0-7 N, little-endian; then N bytes of JSON, padded with spaces; then the
// data. Stricter than the reference where that guards a carve: a name may occur once, an entry holds exactly dtype, shape
// and data_offsets, and the tensors must cover the data without hole or overlap. Every refusal says which tensor and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/dtype.h"

namespace kvfit::models {

struct HeaderTensor {
  std::string_view name;            ///< into the header's own text
  std::int64_t begin = 0, end = 0;  ///< bytes of the data, which starts at SafetensorsHeader::data_begin()
  std::uint32_t first_extent = 0, rank = 0;
  profiles::DType dtype = profiles::DType::bf16;

  std::int64_t bytes() const { return end - begin; }
};

/// Moves, does not copy: tensors name pieces of `text`.
struct SafetensorsHeader {
  std::string file;  ///< as given
  std::int64_t file_bytes = 0;
  std::vector<HeaderTensor> tensors;                          ///< in the order of the header
  std::vector<std::int64_t> extents;                          ///< shapes, one after the other
  std::vector<std::pair<std::string, std::string>> metadata;  ///< "__metadata__", in order
  std::vector<char> text;                                     ///< the N bytes; escaped names are decoded in place

  SafetensorsHeader() = default;
  SafetensorsHeader(SafetensorsHeader&&) = default;
  SafetensorsHeader& operator=(SafetensorsHeader&&) = default;
  SafetensorsHeader(const SafetensorsHeader&) = delete;
  SafetensorsHeader& operator=(const SafetensorsHeader&) = delete;
  ~SafetensorsHeader() = default;

  std::int64_t data_begin() const { return 8 + static_cast<std::int64_t>(text.size()); }
  std::span<const std::int64_t> shape(const HeaderTensor& tensor) const {
    return std::span(extents).subspan(tensor.first_extent, tensor.rank);
  }
};

/// The format's own limit on N.
inline constexpr std::int64_t kMaxHeaderBytes = 100'000'000;

/// Reads 8 + N bytes of a regular file. Error (Fault::input) for a file that is missing, cut short or malformed;
/// Fault::environment when the system refuses to read it.
SafetensorsHeader read_safetensors_header(const std::string& path);

/// The same for a header at hand: `text` are the N bytes, `file_bytes` the size of the whole file.
SafetensorsHeader parse_safetensors_header(std::vector<char> text, std::int64_t file_bytes, std::string file);

}  // namespace kvfit::models
