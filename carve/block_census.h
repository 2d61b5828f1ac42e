// Counts what one block's experts hold, to prove that they are complete and alike.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "carve/expert_names.h"
#include "models/safetensors_header.h"

namespace kvfit::carve {

class BlockCensus {
 public:
  /// One expert's tensor. Errors are kept for settle().
  void add(const ExpertName& name, const models::HeaderTensor& tensor, std::span<const std::int64_t> shape);
  /// A stack that holds `experts`.
  void add_stack(std::string_view name, std::int64_t experts);

  /// The block's expert count. Error when ids are not 0..E-1, an expert lacks a tensor that others have, tensors of one name
  /// differ in dtype or shape (EXL3's trellis may differ in its last extent), or stacks differ in length.
  std::int64_t settle(const std::string& prefix, const std::string& directory) const;

 private:
  struct Kind {
    profiles::DType dtype;
    std::vector<std::int64_t> shape;
    std::vector<bool> seen;  ///< by expert
    std::string differs;     ///< the first tensor unlike the others
  };
  std::map<std::string, Kind, std::less<>> kinds_;
  std::int64_t largest_ = -1;
  std::int64_t stack_ = -1;
  std::string stack_name_, other_stack_;
};

}  // namespace kvfit::carve
