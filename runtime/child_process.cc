#include "runtime/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>

#include "profiles/error.h"
#include "profiles/text.h"
#include "runtime/stopwatch.h"

namespace kvfit::runtime {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

bool same_variable(std::string_view a, std::string_view b) { return a.substr(0, a.find('=')) == b.substr(0, b.find('=')); }

std::vector<std::string> environment_with(const std::vector<std::string>& own) {
  std::vector<std::string> out = own;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    bool replaced = false;
    for (const std::string& word : own) replaced = replaced || same_variable(word, *variable);
    if (!replaced) out.emplace_back(*variable);
  }
  return out;
}

// In the child, between fork and exec: system calls only.
[[noreturn]] void become(char** arguments, char** environment, int output, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) ::signal(number, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  if (::getppid() == parent) ::execvpe(arguments[0], arguments, environment);
  const std::string_view words = "cannot be started\n";
  const ssize_t written = ::write(STDERR_FILENO, words.data(), words.size());
  ::_Exit(written < 0 ? kNotStarted - 1 : kNotStarted);
}

int exit_status(int raw) { return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw); }

}  // namespace

ChildProcess::ChildProcess(const ChildOptions& options) {
  std::vector<std::string> arguments = options.arguments;
  std::vector<std::string> environment = environment_with(options.environment);
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(environment);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    profiles::fail_environment(profiles::format("no pipe: {}", std::strerror(errno)));
  }
  const pid_t parent = ::getpid();
  id_ = ::fork();
  if (id_ == 0) {
    become(const_cast<char**>(argument_pointers.data()), const_cast<char**>(environment_pointers.data()), ends[1], parent);
  }
  const int reason = errno;
  ::close(ends[1]);
  if (id_ < 0) {
    ::close(ends[0]);
    profiles::fail_environment(profiles::format("cannot start {}: {}", arguments.front(), std::strerror(reason)));
  }
  ::setpgid(id_, id_);  // whoever of the two comes first
  output_ = ends[0];
  ::fcntl(output_, F_SETFL, O_NONBLOCK);
}

ChildProcess::~ChildProcess() {
  end(0.5);
  ::close(output_);
}

bool ChildProcess::read_into(std::string& out) {
  std::array<char, 65536> piece;
  for (;;) {
    const ssize_t got = ::read(output_, piece.data(), piece.size());
    if (got > 0) {
      out.append(piece.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
}

std::optional<int> ChildProcess::poll_exit() {
  if (status_) return status_;
  int raw = 0;
  if (::waitpid(id_, &raw, WNOHANG) == id_) status_ = exit_status(raw);
  return status_;
}

void ChildProcess::end(double grace_seconds) {
  ::kill(-id_, SIGTERM);
  const Stopwatch watch;
  // The group lives as long as one of its processes does.
  while (watch.seconds() < grace_seconds && (!poll_exit() || ::kill(-id_, 0) == 0)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(-id_, SIGKILL);
  if (!poll_exit()) {
    int raw = 0;
    while (::waitpid(id_, &raw, 0) < 0 && errno == EINTR) continue;
    status_ = exit_status(raw);
  }
}

Finished run_to_end(const ChildOptions& options, double seconds) {
  ChildProcess child(options);
  Finished out;
  const Stopwatch watch;
  for (bool open = true; open;) {
    const double left = seconds - watch.seconds();
    if (left <= 0) {
      out.timed_out = true;
      break;
    }
    pollfd waiting{.fd = child.output(), .events = POLLIN, .revents = 0};
    ::poll(&waiting, 1, static_cast<int>(left * 1000) + 1);
    open = child.read_into(out.output);
  }
  child.end(out.timed_out ? 0.5 : 0.1);
  out.status = child.poll_exit().value_or(kNotStarted);
  return out;
}

}  // namespace kvfit::runtime
