// Sums over all weights of each expert, dequantised as they are read: for the scores that look at weights themselves.
// Reads BF16, F16, F32, FP8 with a scale a tensor, a row or a block, and NVFP4 of both layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "carve/expert_reader.h"

namespace kvfit::carve {

class WeightNorms {
 public:
  /// `ranks`: for stable_rank() only, which reads every weight a dozen times; else for the two others.
  WeightNorms(const Source& source, const Layout& layout, bool ranks);

  /// Error naming the first tensor whose format is not read. `progress` gets the bytes read so far.
  void read(const std::function<void(std::int64_t)>& progress);

  std::vector<double> frobenius(std::size_t block) const;    ///< square root of the sum of squares
  std::vector<double> aimer(std::size_t block) const;        ///< -(mean |w| / rms w)
  std::vector<double> stable_rank(std::size_t block) const;  ///< |W|_F^2 / |W|_2^2, mean of an expert's matrices
  std::int64_t bytes_read() const { return bytes_read_; }

 private:
  struct Sums {
    double absolute = 0, squares = 0, ranks = 0;
    std::int64_t count = 0;  ///< weights, or matrices
  };
  using Key = std::tuple<std::int32_t, std::int32_t, std::string>;  // block, expert or -1, projection
  struct Scales {
    TensorRef scale, global;
    bool inverse = false;
  };
  struct Matrix;
  void add(const ExpertTensor& tensor);
  /// Some rows of one expert's matrix, dequantised, and their width.
  using Visit = std::function<void(std::span<const double> weights, std::size_t columns)>;
  void visit(const ExpertTensor& tensor, std::int64_t slab, const Visit& visit);
  void add_sums(const ExpertTensor& tensor, std::int64_t slab, Sums& sums);
  void add_rank(const ExpertTensor& tensor, std::int64_t slab, Sums& sums);
  std::vector<double> slab_numbers(TensorRef ref, std::int64_t slab, std::int64_t slabs);
  const Sums& at(std::size_t block, std::size_t expert) const;

  const Source& source_;
  const Layout& layout_;
  bool ranks_;
  std::map<Key, Scales> scales_;
  std::vector<Sums> sums_;
  std::int64_t bytes_read_ = 0;
};

}  // namespace kvfit::carve
