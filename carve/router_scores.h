// What a block's small tensors say about its experts: router rows, score corrections, tables of token to expert.
#pragma once

#include <vector>

#include "carve/layout.h"
#include "carve/source.h"

namespace kvfit::carve {

/// |row|_2 of the router: exact sums for BF16, compensated for other floats; NaN for a row that is not finite. Error when
/// the router is not stored as plain floats.
std::vector<double> router_norms(const Source& source, const Block& block);

/// How long each expert lasts when, again and again, of the two whose router rows are most alike (cosine) the one with the
/// higher number goes: 0 for the first to go.
std::vector<double> router_diversity(const Source& source, const Block& block);

/// The score correction with its sign turned: training raises it where an expert is used too little. Error when the block
/// has none.
std::vector<double> negated_correction(const Source& source, const Block& block);

/// Entries of the block's table that name each expert. Error when the block has no table, or it names others.
std::vector<double> table_counts(const Source& source, const Block& block);

}  // namespace kvfit::carve
