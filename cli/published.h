// Figures that others measured and published, from profiles/published/*.yaml: they stand beside a plan of the same model on
// the same GPUs, labelled as published. kvfit computes no speed.
#pragma once

#include <string>
#include <vector>

#include "cli/report.h"
#include "profiles/catalog.h"

namespace kvfit::cli {

/// All figures for the model (catalogue id) on `count` of the GPU (profile id); `inputs` receives the profiles used. Throws
/// Error with place on unknown keys, a figure without unit, or a profile without source.
std::vector<Published> find_published(const profiles::Catalog& catalog, const std::string& model, const std::string& gpu,
                                      int count, std::vector<Input>& inputs);

}  // namespace kvfit::cli
