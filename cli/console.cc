#include "cli/console.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/write_file.h"

namespace kvfit::cli {
namespace {

using profiles::fail_environment;
using profiles::format;
using profiles::write_all;

}  // namespace

Console::Console(Screen out, Screen err, bool quiet) : out_(out), err_(err), quiet_(quiet) {}

void Console::write(std::string_view text) const {
  const int failed = write_all(STDOUT_FILENO, text);
  if (failed == EPIPE) throw BrokenPipe{};
  if (failed != 0) fail_environment(format("cannot write to stdout: {}", std::strerror(failed)));
}

void Console::note(std::string_view text) const {
  if (!quiet_) complain(format("{} {}\n", paint("note:", Tone::strong, err_), text));
}

void Console::complain(std::string_view text) const { (void)write_all(STDERR_FILENO, text); }

}  // namespace kvfit::cli
