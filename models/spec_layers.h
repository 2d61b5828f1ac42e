// The layers of a model spec (spec_reader.h).
#pragma once

#include <string_view>
#include <vector>

#include "models/config.h"
#include "models/layer.h"
#include "profiles/document.h"

namespace kvfit::models {

/// The list under `layers`, groups and repeats written out; 2048 layers at most.
std::vector<Layer> read_spec_layers(const profiles::Node& list);

/// Reads of one key within a range; `need` throws when it is absent.
std::int64_t spec_need(profiles::Fields& fields, std::string_view key, Range range);
std::int64_t spec_get(profiles::Fields& fields, std::string_view key, std::int64_t fallback, Range range);

}  // namespace kvfit::models
