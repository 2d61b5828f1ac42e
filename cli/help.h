// Help, rendered from the tables of flags.h.
#pragma once

#include <string>
#include <string_view>

namespace kvfit::cli {

/// `kvfit` alone: what it is for, three examples, the verbs.
std::string overview();

/// -h: one line a common flag, none wider than 79 columns.
std::string brief_help(std::string_view name);

/// --help: examples first, every flag with its default, its other spellings and what more there is to say.
std::string full_help(std::string_view name);

/// The exit codes, one a line, for help and man pages.
std::string_view exit_status_text();

}  // namespace kvfit::cli
