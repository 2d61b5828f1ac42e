// JSON values for output and for small inputs whose places do not matter: the one place that includes nlohmann::json.
// Inputs that a person may have to mend go through document.h, which knows lines and columns.
#pragma once

#include <nlohmann/json.hpp>

namespace kvfit::profiles {

/// Keeps keys in insertion order, so the same plan prints the same bytes.
using Json = nlohmann::ordered_json;

}  // namespace kvfit::profiles
