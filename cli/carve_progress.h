// How far a carve (or a boot test) is, on stderr: a line that redraws itself on a terminal, else one line a tenth or half a
// minute. And the way a carve stops: Ctrl-C makes the next report throw, which leaves the working directory for the next
// run.
#pragma once

#include <chrono>
#include <string>

#include "carve/run.h"
#include "cli/console.h"

namespace kvfit::cli {

class CarveProgress {
 public:
  /// Until destruction SIGINT and SIGTERM ask to stop instead of ending the process; a second one ends it.
  /// `after_stop` says what is left of the work then.
  CarveProgress(const Console& console, bool shown,
                std::string after_stop = "run the same command again: it goes on where it stopped");
  CarveProgress(const CarveProgress&) = delete;
  CarveProgress& operator=(const CarveProgress&) = delete;
  ~CarveProgress();

  /// Throws Error(Fault::interrupted) when asked to stop.
  void operator()(const carve::Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  void draw(const carve::Progress& progress, Clock::time_point now);
  void log(const carve::Progress& progress, Clock::time_point now);

  const Console& console_;
  bool shown_;
  std::string after_stop_;
  bool drawn_ = false;
  std::string phase_;
  Clock::time_point phase_began_, last_;
  std::int64_t last_tenth_ = -1;
};

}  // namespace kvfit::cli
