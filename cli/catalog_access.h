// The profiles a command works with: built-in ones, the user's own directory, and each --profiles DIR.
#pragma once

#include "cli/args.h"
#include "cli/terminal.h"
#include "profiles/catalog.h"

namespace kvfit::cli {

/// The user's directory is $XDG_CONFIG_HOME/kvfit/profiles, else $HOME/.config/kvfit/profiles, and only counts when it
/// exists.
profiles::Catalog open_catalog(const Args& args, const Environment& environment);

}  // namespace kvfit::cli
