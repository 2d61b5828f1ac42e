// format_of() for a whole model: a module that forty layers have is looked up once for each set of rules that name its
// layer.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "models/quantization.h"
#include "profiles/dtype.h"

namespace kvfit::models {

class FormatCache {
 public:
  FormatCache(const Quantization& quantization, profiles::DType plain);

  /// `kind`: the same address for modules whose names differ in nothing but the number `layer` (-1: none).
  const WeightFormat& of(const void* kind, int layer, std::string_view module);

 private:
  std::size_t set_of(int layer);

  const Quantization& quantization_;
  profiles::DType plain_;
  bool digits_matter_ = false;                  ///< a regular expression spells out digits: nothing may be shared
  std::vector<const FormatRule*> layer_bound_;  ///< rules that hold for some layers only
  std::vector<std::size_t> set_of_layer_;       ///< by layer + 1; kUnknown until asked for
  std::map<std::vector<bool>, std::size_t> sets_;
  std::map<std::pair<const void*, std::size_t>, WeightFormat> known_;
};

}  // namespace kvfit::models
