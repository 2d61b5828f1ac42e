// Shell completions and man pages, rendered from the tables of flags.h.
#pragma once

#include <string>
#include <string_view>

#include "profiles/catalog.h"

namespace kvfit::cli {

/// A script for "bash", "zsh" or "fish": verbs, the flags of each, their values; GPUs and models as the catalogue has them.
std::string completion_script(std::string_view shell, const profiles::Catalog& catalog);

/// A page of roff: kvfit(1) for "", kvfit-VERB(1) else.
std::string man_page(std::string_view verb);

}  // namespace kvfit::cli
