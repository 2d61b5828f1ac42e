// kvfit completions, kvfit man
#include <string>

#include "cli/catalog_access.h"
#include "cli/commands.h"
#include "cli/completions.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "profiles/error.h"
#include "profiles/suggest.h"
#include "profiles/text.h"

namespace kvfit::cli {

int completions_command(const Args& args, const Console& console) {
  const std::string shell = args.words.empty() ? "" : args.words.front();
  if (args.words.size() != 1 || (shell != "bash" && shell != "zsh" && shell != "fish")) {
    profiles::fail_input(shell.empty() ? "for which shell?" : profiles::format("no completions for '{}'", shell), {},
                         "kvfit completions bash, zsh or fish");
  }
  const profiles::Catalog catalog = open_catalog(args, process_environment());
  deliver(args, console, "script", "script",
          [&](std::string_view, const Screen&) { return completion_script(shell, catalog); });
  return kYes;
}

int man_command(const Args& args, const Console& console) {
  const std::string verb = args.words.empty() ? "" : args.words.front();
  if (args.words.size() > 1) profiles::fail_input("one page at a time", {}, "kvfit man VERB");
  if (!verb.empty() && find_verb(verb) == nullptr) {
    std::vector<std::string> known;
    for (const Verb& row : verbs()) known.emplace_back(row.name);
    const std::string near = profiles::did_you_mean(verb, known);
    profiles::fail_input(profiles::format("no page for '{}'{}{}", verb, near.empty() ? "" : "; ", near), {},
                         "see kvfit --help");
  }
  deliver(args, console, "roff", "roff", [&](std::string_view, const Screen&) { return man_page(verb); });
  return kYes;
}

}  // namespace kvfit::cli
