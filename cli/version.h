// kvfit's version, as CMakeLists.txt states it.
#pragma once

#include <string_view>

namespace kvfit::cli {

std::string_view version_number();  ///< "0.1.0"

}  // namespace kvfit::cli
