// model.safetensors.index.json: which file holds which tensor. Headers are the truth; the index says which files belong to
// the checkpoint, and what it claims is only compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/name_table.h"

namespace kvfit::models {

/// Moves, does not copy: entries name pieces of `text`.
struct SafetensorsIndex {
  struct Entry {
    std::string_view tensor;
    std::uint32_t file = 0;  ///< into `files`
  };
  std::vector<std::string> files;  ///< in the order of first mention
  std::vector<Entry> entries;      ///< in the order of the index
  NameTable by_name;               ///< positions in `entries`
  std::optional<std::int64_t> total_size;
  std::vector<char> text;

  /// The position of a tensor's entry, or nullopt.
  std::optional<std::uint32_t> find(std::string_view tensor) const {
    return by_name.find(tensor, [this](std::uint32_t i) { return entries[i].tensor; });
  }

  SafetensorsIndex() = default;
  SafetensorsIndex(SafetensorsIndex&&) = default;
  SafetensorsIndex& operator=(SafetensorsIndex&&) = default;
  SafetensorsIndex(const SafetensorsIndex&) = delete;
  SafetensorsIndex& operator=(const SafetensorsIndex&) = delete;
  ~SafetensorsIndex() = default;
};

/// Error (Fault::input) when it is no index, a tensor is named twice, or a file name could leave the directory.
SafetensorsIndex parse_safetensors_index(std::vector<char> text, std::string file);
SafetensorsIndex read_safetensors_index(const std::string& path);

}  // namespace kvfit::models
