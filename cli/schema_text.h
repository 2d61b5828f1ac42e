// The JSON Schemas of cli/schemas/, compiled in.
#pragma once

#include <string_view>

namespace kvfit::cli {

/// Output of `kvfit plan --format json`.
std::string_view plan_schema();
/// Output of `kvfit boot --format json`.
std::string_view boot_schema();
/// Output of `kvfit check --format json`.
std::string_view check_schema();
/// Output of `kvfit diff --format json`.
std::string_view diff_schema();
/// Output of `kvfit calibrate --format json`.
std::string_view calibrate_schema();

}  // namespace kvfit::cli
