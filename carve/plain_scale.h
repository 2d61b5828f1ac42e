// What an NVFP4 scale of unquantised experts would be: the mean over 16 inputs of max|w| / 6. Every fourth run of 64 rows of
// a matrix is read: runs long enough for a disk, few enough that scoring stays a small part of a carve.
#pragma once

#include <cstdint>
#include <vector>

#include "carve/expert_reader.h"

namespace kvfit::carve {

class PlainScale {
 public:
  explicit PlainScale(std::int64_t experts) : sums_(static_cast<std::size_t>(experts)), counts_(sums_.size()) {}

  /// A weight tensor of one expert or of all; other dtypes than BF16, F16 and F32 count as nothing.
  void add(const Source& source, const ExpertTensor& tensor);

  std::vector<double> means() const;  ///< empty when an expert had nothing to measure
  std::int64_t bytes_read() const { return bytes_read_; }

 private:
  std::vector<double> sums_;
  std::vector<std::int64_t> counts_;
  std::int64_t bytes_read_ = 0;
};

/// Bytes add() reads.
std::int64_t plain_scale_cost(const Source& source, const ExpertTensor& tensor);

}  // namespace kvfit::carve
