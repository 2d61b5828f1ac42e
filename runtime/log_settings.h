// How the engine of a boot log was set up, as a planner's serving settings: what its configuration line, its list of
// arguments and its remarks state.
#pragma once

#include <string>
#include <string_view>

#include "planner/question.h"
#include "runtime/boot_log.h"
#include "runtime/flag_table.h"

namespace kvfit::runtime {

/// Serving settings as the log states them, over `base`. The length is the one that the engine ended with: reduced to fit,
/// printed beside the concurrency or in a refusal, or of the configuration.
planner::Serving settings_from_log(const BootLog& log, planner::Serving base);

/// The arguments that the log lists ("non-default args: {...}") over `base`, each flag understood as `kvfit check` does.
/// What cannot be read is left out: a log is no command line to mend.
planner::Serving arguments_from_log(const BootLog& log, const FlagTable& flags, planner::Serving base);

/// A Python literal (dictionary, list, tuple, text, number, True, False, None) as JSON text; what is no literal, such as an
/// object's repr, becomes null. "" when the text does not begin with a dictionary that ends.
std::string json_of_python(std::string_view text);

}  // namespace kvfit::runtime
