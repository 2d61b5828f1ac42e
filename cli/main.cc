// kvfit: parse, run the verb, exit.
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/guard.h"
#include "cli/help.h"
#include "cli/terminal.h"
#include "cli/version.h"
#include "profiles/text.h"

namespace {

using namespace kvfit::cli;

Console open_console(const Args& args) {
  const std::string when = args.text("color").value_or("auto");
  const ColourChoice choice = when == "always"  ? ColourChoice::always
                              : when == "never" ? ColourChoice::never
                                                : ColourChoice::automatic;
  const Environment environment = process_environment();
  return Console(decide_screen(choice, stream_facts(STDOUT_FILENO), environment),
                 decide_screen(choice, stream_facts(STDERR_FILENO), environment), args.toggle("quiet").value_or(false));
}

int run(const std::vector<std::string>& words) {
  const Args args = parse_args(words);
  const Console console = open_console(args);
  if (args.has("version") || args.verb == "version") {
    console.write(kvfit::profiles::format("kvfit {}\n", version_number()));
    return kYes;
  }
  if (args.help != Args::Help::none) {
    console.write(args.help == Args::Help::brief ? brief_help(args.verb) : full_help(args.verb));
    return kYes;
  }
  if (args.verb == "plan") return plan_command(args, console);
  if (args.verb == "emit") return emit_command(args, console);
  if (args.verb == "diff") return diff_command(args, console);
  if (args.verb == "check") return check_command(args, console);
  if (args.verb == "explain") return explain_command(args, console);
  if (args.verb == "calibrate") return calibrate_command(args, console);
  if (args.verb == "carve") return carve_command(args, console);
  if (args.verb == "boot") return boot_command(args, console);
  if (args.verb == "gpus") return gpus_command(args, console);
  if (args.verb == "models") return models_command(args, console);
  if (args.verb == "completions") return completions_command(args, console);
  if (args.verb == "config") return config_command(args, console);
  if (args.verb == "man") return man_command(args, console);
  if (args.verb == "schema") return schema_command(args, console);
  return help_command(args, console);
}

// "error:" stands out on a terminal; the rest of the text is as the error has it.
void complain(const std::string& text) {
  const Screen screen = decide_screen(ColourChoice::automatic, stream_facts(STDERR_FILENO), process_environment());
  const bool marked = text.starts_with("error:");
  const Console console(screen, screen, false);
  console.complain((marked ? paint("error:", Tone::bad, screen) + text.substr(6) : text) + "\n");
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, [](int) { ::_exit(kInterrupted); });
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return guarded([&words] { return run(words); }, complain);
}
