// Reads a value with its source out of a profile: `{mib: [22897, 23990, 24112], how: derived, source: "..."}`.
//
// One unit key (bytes, mib, gib, count, gb_s, watts, ratio) holds a number, or [low, likely, high] where a range is
// allowed. `source:` says where it was read; `sourced: false` admits that it was not; `how: derived` marks a value worked
// out by the rule its source states. Anything else is a profiles::Error with the place.
#pragma once

#include "hardware/gpu.h"
#include "profiles/document.h"

namespace kvfit::hardware {

Fact<Bytes> read_bytes(const profiles::Node& fact, Bytes least, Bytes most);
Fact<ByteRange> read_byte_range(const profiles::Node& fact, Bytes least, Bytes most);
Fact<RatioRange> read_ratio_range(const profiles::Node& fact);
Fact<int> read_count(const profiles::Node& fact, int most);
/// GB/s (10^9) to bytes per second.
Fact<double> read_rate(const profiles::Node& fact);
Fact<double> read_watts(const profiles::Node& fact);

}  // namespace kvfit::hardware
