// Raw tensor bytes as numbers: the float formats scales, routers and plain weights are stored in.
#pragma once

#include <span>
#include <vector>

#include "profiles/dtype.h"

namespace kvfit::carve {

/// True for dtypes that decode() reads.
bool is_number(profiles::DType type);

/// Little-endian, unaligned bytes -> doubles, exactly; `out` is replaced. U8 is read as E8M0 (2^(code - 127)), which is how
/// gpt-oss stores its MXFP4 scales.
void decode(profiles::DType type, std::span<const char> bytes, std::vector<double>& out);

/// Packed E2M1 (FP4), low half of each byte first.
void decode_fp4(std::span<const char> bytes, std::vector<double>& out);

}  // namespace kvfit::carve
