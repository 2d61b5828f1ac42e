// The real engine, started, watched and ended: its log is read as it comes, /health is asked until it is well, a completion
// is sent, and NVML says the most memory that was in use. The engine and all it started are gone when this returns or
// throws.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "profiles/units.h"
#include "runtime/boot_log.h"
#include "runtime/child_process.h"

namespace kvfit::runtime {

struct EngineOptions {
  ChildOptions child;
  std::uint16_t port = 8000;     ///< on this machine
  double ready_seconds = 1800;   ///< until /health answers
  double answer_seconds = 600;   ///< for one completion
  bool completion = true;        ///< a prompt of a few tokens
  std::int64_t long_prompt = 0;  ///< tokens of a second prompt; 0 = none
  std::string pci_bus_id;        ///< whose memory is sampled; "" = none
};

enum class EngineEnd {
  ready,        ///< /health said yes
  exited,       ///< before it was ready; the log says why, or not
  timed_out,    ///< neither
  not_started,  ///< the program could not be run
};

struct Completion {
  int status = 0;  ///< of HTTP; 0 = no answer in time
  double seconds = 0;
  std::int64_t prompt_tokens = 0, completion_tokens = 0;  ///< as the engine counts; 0 = it does not say
  std::string error;                                      ///< the engine's words when the status is not 200
};

struct EngineRun {
  EngineEnd end = EngineEnd::timed_out;
  int exit_status = 0;  ///< of `exited`, and of an engine that died after it was ready
  bool died_later = false;
  double ready_seconds = 0;
  BootLog log;
  std::string text;  ///< everything it printed
  std::optional<Completion> completion, long_prompt;
  std::optional<profiles::Bytes> used_before, used_peak;  ///< of the sampled device, all programs together
};

/// Called for each line as it comes ("" when nothing came for a while); may throw to stop.
using EngineWatch = std::function<void(std::string_view line, const EngineRun& so_far, double seconds)>;

EngineRun run_engine(const EngineOptions& options, const EngineWatch& watch);

}  // namespace kvfit::runtime
