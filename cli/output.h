// Where a report goes: stdout, or the files that -o names, each in the format asked for.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "cli/args.h"
#include "cli/console.h"

namespace kvfit::cli {

/// Makes the report in one format; asked only for formats that are wanted.
using Rendering = std::function<std::string(std::string_view format, const Screen& screen)>;

/// `main_format` goes to stdout, or to FILE of `-o FILE`; each `-o FORMAT=FILE` is written as well. "-" is stdout. Formats
/// must be of `formats`, separated by '|'. Throws Error when a file cannot be written or a format is not known.
void deliver(const Args& args, const Console& console, std::string_view formats, std::string_view main_format,
             const Rendering& render);

}  // namespace kvfit::cli
