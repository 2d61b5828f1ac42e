// What becomes of one tensor: whether it stays, under which name, with which extents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "carve/layout.h"
#include "carve/source.h"

namespace kvfit::carve {

/// What stays: kept[new] = old for each block of the layout.
using Kept = std::vector<std::vector<std::int32_t>>;

/// A tensor's name after the carve.
std::string carved_name(std::string_view name, const TensorPlace& place, std::int32_t new_expert);

class Survivors {
 public:
  Survivors(const Source& source, const Layout& layout, const Kept& kept);  ///< all must outlive it

  const Source& source() const { return source_; }
  const Shard& shard(std::int32_t shard) const { return source_.shards[static_cast<std::size_t>(shard)]; }
  const std::vector<TensorPlace>& places(std::int32_t shard) const {
    return layout_.places[static_cast<std::size_t>(shard)];
  }

  bool survives(const TensorPlace& place) const;
  /// Of a tensor that survives.
  std::string name(const models::HeaderTensor& tensor, const TensorPlace& place) const;
  std::vector<std::int64_t> shape(const models::SafetensorsHeader& header, const models::HeaderTensor& tensor,
                                  const TensorPlace& place) const;
  std::int64_t bytes(const models::HeaderTensor& tensor, const TensorPlace& place) const;

  const std::vector<std::int32_t>& kept(const TensorPlace& place) const;  ///< old numbers, ascending
  std::int64_t experts() const { return layout_.experts; }

 private:
  std::int32_t new_expert(const TensorPlace& place) const;  // -1: dropped
  const Source& source_;
  const Layout& layout_;
  const Kept& kept_;
  std::vector<std::vector<std::int32_t>> new_of_old_;
};

}  // namespace kvfit::carve
