// Formatting: the one place that includes fmt.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kvfit::profiles {

using fmt::format;
using fmt::join;

}  // namespace kvfit::profiles
