#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/help.h"
#include "profiles/error.h"
#include "profiles/suggest.h"
#include "profiles/text.h"

namespace kvfit::cli {

int help_command(const Args& args, const Console& console) {
  if (args.words.size() > 1) profiles::fail_input("help on one command at a time", {}, "kvfit help VERB");
  const std::string verb = args.words.empty() ? "" : args.words.front();
  if (!verb.empty() && find_verb(verb) == nullptr) {
    std::vector<std::string> known;
    for (const Verb& row : verbs()) known.emplace_back(row.name);
    const std::string near = profiles::did_you_mean(verb, known);
    profiles::fail_input(profiles::format("unknown command '{}'{}{}", verb, near.empty() ? "" : "; ", near), {},
                         "see kvfit --help");
  }
  console.write(args.verb == "help" && !verb.empty() ? full_help(verb) : overview());
  return kYes;
}

}  // namespace kvfit::cli
