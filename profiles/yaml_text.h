// JSON as block YAML: two blanks a level, strings and keys quoted wherever any YAML version would take them for something
// else (yes, no, on, off, null, numbers, dates, 1:30, 010, ~).
#pragma once

#include <string>

#include "profiles/json.h"

namespace kvfit::profiles {

std::string yaml_text(const Json& value);

}  // namespace kvfit::profiles
