// Where a report goes: stdout, or the files that -o names, each in the format asked for.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/args.h"
#include "cli/console.h"

namespace kvfit::cli {

/// Makes the report in one format; asked only for formats that are wanted.
using Rendering = std::function<std::string(std::string_view format, const Screen& screen)>;

struct Delivery {
  bool main_always = true;          ///< the main format goes to stdout though `-o FORMAT=FILE` names others
  std::vector<std::string> inputs;  ///< files that were read, beside those that the command line names
};

/// `main_format` goes to stdout, or to FILE of `-o FILE`; each `-o FORMAT=FILE` is written as well. "-" is stdout. Formats
/// must be of `formats`, separated by '|'. All files are written or none. Throws Error when a file cannot be written, a
/// format is not known, a file is named twice, or one would be written over what this command reads.
void deliver(const Args& args, const Console& console, std::string_view formats, std::string_view main_format,
             const Rendering& render, const Delivery& how = {});

}  // namespace kvfit::cli
