// Where errors end: turns whatever a command throws into a message on stderr and an exit code.
#pragma once

#include <functional>

#include "cli/console.h"

namespace kvfit::cli {

/// Runs `body`. Error -> its text and its fault's code; a reader of stdout that went away -> 0, quietly; no memory -> 4; any
/// other exception is a bug in kvfit -> 70 and the request to report it.
int guarded(const std::function<int()>& body, const std::function<void(const std::string&)>& complain);

}  // namespace kvfit::cli
