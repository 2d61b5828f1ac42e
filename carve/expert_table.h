// Tables of token to expert (DeepSeek-V4's gate.tid2eid, [vocabulary, top-k], I64 or I32): what a carve makes of them when
// dropped experts are replaced by kept ones (`--hash-remap nearest`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "carve/layout.h"
#include "carve/source.h"

namespace kvfit::carve {

/// Rows of a block's router as floats, and how alike two of them are.
class RouterRows {
 public:
  RouterRows(const Source& source, const Block& block);
  double cosine(std::size_t a, std::size_t b) const;  ///< 0 where a row is zero

 private:
  std::size_t width_ = 0;
  std::vector<float> values_;
  std::vector<double> norms_;
};

/// Calls visit(experts) for pieces of whole rows. Error when an entry names an expert that is not there.
void for_each_table_piece(const Source& source, const Block& block,
                          const std::function<void(std::span<const std::int64_t>)>& visit);

/// Error when an entry names an expert that is not there, or a row has more entries than experts stay.
void check_table(const Source& source, const Block& block, std::int64_t keep);

/// New expert numbers for a table's entries, row by row: a kept expert's own, and for a dropped one the kept expert whose
/// router row is most like its own (cosine; the lower number on ties) and which the row does not name yet.
class ExpertTable {
 public:
  ExpertTable(const Source& source, const Block& block, std::span<const std::int32_t> kept);
  std::int64_t piece_bytes() const;  ///< whole rows, about a MiB
  /// Bytes of whole rows as the source holds them, rewritten in place.
  void rewrite(std::span<char> rows) const;

 private:
  std::int32_t replacement(std::size_t old, std::span<const std::int64_t> taken) const;
  std::int64_t columns_ = 0, entry_bytes_ = 8;
  std::vector<std::int32_t> new_of_old_;            // -1: dropped
  std::vector<std::vector<std::int32_t>> nearest_;  // by old number: new numbers, most alike first; empty when kept
};

/// By block of the layout, those that have tables.
using ExpertTables = std::map<std::int32_t, ExpertTable>;
ExpertTables expert_tables(const Source& source, const Layout& layout, const std::vector<std::vector<std::int32_t>>& kept);

}  // namespace kvfit::carve
