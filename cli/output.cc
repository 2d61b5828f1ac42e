#include "cli/output.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/write_file.h"

namespace kvfit::cli {
namespace {

using profiles::fail_input;
using profiles::format;

struct Target {
  std::string format;
  std::string path;  ///< "-" = stdout
};

bool one_of(std::string_view choices, std::string_view word) {
  while (!choices.empty()) {
    const std::size_t bar = choices.find('|');
    if (choices.substr(0, bar) == word) return true;
    choices.remove_prefix(bar == std::string_view::npos ? choices.size() : bar + 1);
  }
  return false;
}

// "json=plan.json" names a format; "a=b.json" with an unknown word before '=' is refused rather than taken for a path.
std::vector<Target> targets(const Args& args, std::string_view formats, std::string_view main_format) {
  std::vector<Target> out;
  bool main_placed = false;
  for (const std::string& text : args.texts("output")) {
    const std::size_t equals = text.find('=');
    const bool pair = equals != std::string::npos && text.substr(0, equals).find('/') == std::string::npos;
    if (pair && !one_of(formats, text.substr(0, equals))) {
      fail_input(format("unknown format '{}' in -o {}", text.substr(0, equals), text), {},
                 format("known: {}; write ./{} for a file of that name", formats, text));
    }
    if (!pair && main_placed) fail_input("-o FILE is given twice", {}, "write -o FORMAT=FILE for each further file");
    out.push_back(pair ? Target{text.substr(0, equals), text.substr(equals + 1)} : Target{std::string(main_format), text});
    main_placed = main_placed || !pair;
    if (out.back().path.empty()) fail_input(format("no file in -o {}", text), {}, "write -o FORMAT=FILE");
  }
  if (!main_placed) out.insert(out.begin(), {std::string(main_format), "-"});
  return out;
}

}  // namespace

void deliver(const Args& args, const Console& console, std::string_view formats, std::string_view main_format,
             const Rendering& render) {
  for (const Target& target : targets(args, formats, main_format)) {
    if (target.path == "-") {
      console.write(render(target.format, console.out()));
    } else {
      profiles::write_file(target.path, render(target.format, Screen{}));
      console.note(format("wrote {}", target.path));
    }
  }
}

}  // namespace kvfit::cli
