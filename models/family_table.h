// The rows behind find_family (family.h); apart so that the facts stand in a file of their own.
#pragma once

#include <span>

#include "models/family.h"

namespace kvfit::models {

std::span<const Family> family_table();

}  // namespace kvfit::models
