// kvfit gpus detect: the GPUs of a machine, the profile of each, and what differs from it.
#pragma once

#include "cli/args.h"
#include "cli/console.h"
#include "profiles/catalog.h"

namespace kvfit::cli {

int gpus_detect(const Args& args, const Console& console, const profiles::Catalog& catalog);

}  // namespace kvfit::cli
