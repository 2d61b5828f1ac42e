// The process's two streams. Reports go to stdout; notes, warnings and errors to stderr.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal.h"

namespace kvfit::cli {

/// Thrown when the reader of stdout went away: not a fault, the process ends quietly with 0.
struct BrokenPipe {};

class Console {
 public:
  Console(Screen out, Screen err, bool quiet);

  const Screen& out() const { return out_; }
  const Screen& err() const { return err_; }

  /// Throws BrokenPipe, or Error(Fault::environment) when stdout cannot take it.
  void write(std::string_view text) const;
  /// "note: TEXT" on stderr unless --quiet; a stderr that is gone is ignored.
  void note(std::string_view text) const;
  /// On stderr whatever --quiet says.
  void complain(std::string_view text) const;

 private:
  Screen out_, err_;
  bool quiet_;
};

}  // namespace kvfit::cli
