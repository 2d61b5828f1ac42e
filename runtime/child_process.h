// A program started by kvfit, in its own process group, so that it and everything it starts can be ended together.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace kvfit::runtime {

inline constexpr int kNotStarted = 127;  ///< exit status of a program that cannot be started, as of a shell

struct ChildOptions {
  std::vector<std::string> arguments;    ///< the program first, found by PATH
  std::vector<std::string> environment;  ///< "NAME=value", beside kvfit's own
};

class ChildProcess {
 public:
  /// Starts it with stdin empty and stdout and stderr in one pipe. A program that cannot be started ends with exit status
  /// 127. It is told to end when kvfit dies. Throws Error(Fault::environment) when the system refuses.
  explicit ChildProcess(const ChildOptions& options);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Ends it, if it still runs.
  ~ChildProcess();

  int output() const { return output_; }  ///< descriptor to read from, non-blocking
  pid_t id() const { return id_; }

  /// Everything there is to read now is added to `out`; false when the other end is closed.
  bool read_into(std::string& out);

  /// As waitpid says: nullopt while it runs. Its exit status, or 128 + the signal that ended it.
  std::optional<int> poll_exit();

  /// SIGTERM to the whole group, SIGKILL to what is left after `grace_seconds`; waits until the program is gone. Does
  /// nothing when it already is, but for what else is left of its group.
  void end(double grace_seconds);

 private:
  pid_t id_ = -1;
  int output_ = -1;
  std::optional<int> status_;
};

struct Finished {
  int status = 0;
  std::string output;
  bool timed_out = false;
};

/// Runs it to its end, for at most `seconds`.
Finished run_to_end(const ChildOptions& options, double seconds);

}  // namespace kvfit::runtime
