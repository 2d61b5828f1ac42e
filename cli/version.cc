#include "cli/version.h"

#include <string_view>

namespace kvfit::cli {

std::string_view version_number() { return KVFIT_VERSION; }

}  // namespace kvfit::cli
