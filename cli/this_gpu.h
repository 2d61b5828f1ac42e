// `--gpu auto`: the GPU of this machine, or of the machine whose nvidia-smi output was saved, and the profile it goes by.
#pragma once

#include <string_view>

#include "cli/args.h"
#include "hardware/match.h"
#include "profiles/catalog.h"
#include "runtime/detect.h"

namespace kvfit::cli {

struct ThisGpu {
  runtime::Detection detection;
  runtime::FoundGpu found;
  hardware::GpuMatch match;  ///< its gpu is set
};

/// "auto", "auto:1".
bool names_this_gpu(std::string_view name);

/// All of them: of --nvidia-smi FILE, else of this machine.
runtime::Detection detection_from(const Args& args);

/// The one that "auto:N" names. Throws Error when there is none, or no profile is near it.
ThisGpu find_this_gpu(const Args& args, const profiles::Catalog& catalog, std::string_view name);

}  // namespace kvfit::cli
