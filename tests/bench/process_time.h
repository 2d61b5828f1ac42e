// How long a whole process takes, from spawn to exit.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace kvfit::bench {

using Milliseconds = std::chrono::duration<double, std::milli>;

struct Cost {
  Milliseconds wall, cpu;  ///< cpu: user and system, which a busy machine leaves alone
};

struct Pair {
  Cost first, second;  ///< medians
};

/// Runs the two commands by turns, `times` each, output thrown away, so that a busy machine is busy for both. Throws
/// std::runtime_error when one cannot be started or ends by a signal.
Pair compare_processes(const std::vector<std::string>& first, const std::vector<std::string>& second, int times);

/// What a command prints; throws when it fails.
std::string output_of(const std::vector<std::string>& command);

}  // namespace kvfit::bench
