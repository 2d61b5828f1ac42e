#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/schema_text.h"
#include "profiles/error.h"
#include "profiles/suggest.h"
#include "profiles/text.h"

namespace kvfit::cli {

int schema_command(const Args& args, const Console& console) {
  const std::vector<std::string> known = {"plan", "check", "boot", "diff", "calibrate"};
  const std::string name = args.words.empty() ? "plan" : args.words.front();
  if (args.words.size() > 1) profiles::fail_input("one schema at a time", {}, "see kvfit schema --help");
  if (std::ranges::find(known, name) == known.end()) {
    profiles::fail_input(profiles::format("no schema '{}'", name), {},
                         profiles::format("known: {}", profiles::join(known, ", ")));
  }
  const std::string_view text = name == "plan"    ? plan_schema()
                                : name == "check" ? check_schema()
                                : name == "boot"  ? boot_schema()
                                : name == "diff"  ? diff_schema()
                                                  : calibrate_schema();
  deliver(args, console, "json", "json", [text](std::string_view, const Screen&) { return std::string(text); });
  return kYes;
}

}  // namespace kvfit::cli
