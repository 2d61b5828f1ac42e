#include "tests/bench/process_time.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace kvfit::bench {
namespace {

// Starts a command with stdout on `out` (or nowhere when negative) and stderr nowhere.
pid_t start(const std::vector<std::string>& command, int out) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (out >= 0) {
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  const int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot start " + command[0]);
  return child;
}

int exit_code(pid_t child, const std::string& name, rusage& usage) {
  int status = 0;
  if (wait4(child, &status, 0, &usage) < 0 || !WIFEXITED(status)) throw std::runtime_error(name + " did not exit");
  return WEXITSTATUS(status);
}

Milliseconds duration(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

Cost run_once(const std::vector<std::string>& command) {
  rusage usage{};
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  exit_code(start(command, -1), command[0], usage);
  return {.wall = std::chrono::steady_clock::now() - begin, .cpu = duration(usage.ru_utime) + duration(usage.ru_stime)};
}

Cost median(const std::vector<Cost>& costs) {
  std::vector<Milliseconds> wall;
  std::vector<Milliseconds> cpu;
  for (const Cost& cost : costs) {
    wall.push_back(cost.wall);
    cpu.push_back(cost.cpu);
  }
  std::sort(wall.begin(), wall.end());
  std::sort(cpu.begin(), cpu.end());
  return {.wall = wall[wall.size() / 2], .cpu = cpu[cpu.size() / 2]};
}

}  // namespace

Pair compare_processes(const std::vector<std::string>& first, const std::vector<std::string>& second, int times) {
  std::vector<Cost> a;
  std::vector<Cost> b;
  for (int i = 0; i < times; ++i) {
    a.push_back(run_once(first));
    b.push_back(run_once(second));
  }
  return {median(a), median(b)};
}

std::string output_of(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const pid_t child = start(command, ends[1]);
  close(ends[1]);
  std::string out;
  std::array<char, 4096> piece{};
  for (ssize_t n = 0; (n = read(ends[0], piece.data(), piece.size())) > 0;)
    out.append(piece.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  rusage usage{};
  if (exit_code(child, command[0], usage) != 0) throw std::runtime_error(command[0] + " failed");
  return out;
}

}  // namespace kvfit::bench
