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
  const std::vector<std::string> known = {"plan", "check", "boot"};
  const std::string name = args.words.empty() ? "plan" : args.words.front();
  if (args.words.size() > 1) profiles::fail_input("one schema at a time", {}, "see kvfit schema --help");
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    profiles::fail_input(profiles::format("no schema '{}'", name), {},
                         profiles::format("known: {}", profiles::join(known, ", ")));
  }
  deliver(args, console, "json", "json",
          [&name](std::string_view, const Screen&) {
            return std::string(name == "boot" ? boot_schema() : name == "check" ? check_schema() : plan_schema());
          });
  return kYes;
}

}  // namespace kvfit::cli
