#include "cli/carve_progress.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/table.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using namespace std::chrono_literals;
using profiles::format;

volatile std::sig_atomic_t stop_asked = 0;  // what a signal handler may touch

void ask_to_stop(int) {
  if (stop_asked != 0) ::_exit(kInterrupted);
  stop_asked = 1;
}

std::int64_t percent(const carve::Progress& progress) {
  if (progress.total <= 0) return 100;
  return std::clamp<std::int64_t>(progress.done * 100 / progress.total, 0, 100);
}

std::string amounts(const carve::Progress& progress, double seconds) {
  const double mb = static_cast<double>(progress.done) / 1e6;
  const bool large = progress.total >= 1'000'000'000;
  const double unit = large ? 1e9 : 1e6;
  const std::string rate = seconds > 0.05 ? format(", {:.0f} MB/s", mb / seconds) : "";
  return format("{:.2f} of {:.2f} {}{}", static_cast<double>(progress.done) / unit,
                static_cast<double>(progress.total) / unit, large ? "GB" : "MB", rate);
}

}  // namespace

CarveProgress::CarveProgress(const Console& console, bool shown, std::string after_stop)
    : console_(console), shown_(shown), after_stop_(std::move(after_stop)) {
  stop_asked = 0;
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
}

CarveProgress::~CarveProgress() {
  std::signal(SIGINT, [](int) { ::_exit(kInterrupted); });
  std::signal(SIGTERM, SIG_DFL);
  if (drawn_) console_.complain("\n");
}

void CarveProgress::operator()(const carve::Progress& progress) {
  if (stop_asked != 0) {
    throw profiles::Error(profiles::Fault::interrupted, "stopped", {}, after_stop_);
  }
  if (!shown_) return;
  const Clock::time_point now = Clock::now();
  if (phase_ != progress.phase) {
    if (drawn_) console_.complain("\n");
    drawn_ = false;
    phase_ = progress.phase;
    phase_began_ = now;
    last_ = console_.err().terminal ? Clock::time_point{} : now;
    last_tenth_ = -1;
  }
  if (console_.err().terminal) {
    draw(progress, now);
  } else {
    log(progress, now);
  }
}

void CarveProgress::draw(const carve::Progress& progress, Clock::time_point now) {
  if (now - last_ < 100ms && progress.done < progress.total) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - phase_began_).count();
  const double share = static_cast<double>(percent(progress)) / 100;
  console_.complain(
      format("\r\x1b[K{:<8} {:>3}% {} {}", phase_, percent(progress), bar(share, 20), amounts(progress, seconds)));
  drawn_ = true;
}

// A line a tenth, none within a second of the last, and one at the end of each phase.
void CarveProgress::log(const carve::Progress& progress, Clock::time_point now) {
  const std::int64_t tenth = percent(progress) / 10;
  const bool end = progress.done >= progress.total;
  if (end ? last_tenth_ == tenth : (now - last_ < 1s || (tenth == last_tenth_ && now - last_ < 30s))) return;
  last_tenth_ = tenth;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - phase_began_).count();
  console_.complain(format("{} {}%: {}\n", phase_, percent(progress), amounts(progress, seconds)));
}

}  // namespace kvfit::cli
