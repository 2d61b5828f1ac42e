#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/boot_log_lines.h"
#include "runtime/log_scan.h"

namespace kvfit::runtime {
namespace {

constexpr double kMostGib = 1 << 20;                        // a pebibyte: no device holds it
constexpr std::int64_t kMostCount = std::int64_t{1} << 40;  // tokens, blocks
constexpr std::size_t kMostRemarks = 20;

bool allowed(double value, Sign sign) {
  if (sign == Sign::positive) return value > 0;
  return sign == Sign::any || value >= 0;
}

}  // namespace

void cannot_use(const LogLine& line, std::string_view why, BootLog& log) {
  const bool known = !log.unusable.empty() && log.unusable.back().line == line.number;
  if (known || log.unusable.size() >= kMostRemarks) return;
  log.unusable.push_back(logged(line, std::string(why)));
}

void note_size(const LogLine& line, std::optional<double> gib, Sign sign, LoggedList<double>& list, BootLog& log) {
  if (!gib || !std::isfinite(*gib)) return cannot_use(line, "no number with a unit where a size must stand", log);
  if (std::fabs(*gib) > kMostGib) return cannot_use(line, "a size that no device has", log);
  if (!allowed(*gib, sign)) return cannot_use(line, "a size of zero or less", log);
  list.push_back(logged(line, *gib));
}

void note_count(const LogLine& line, std::optional<std::int64_t> count, Sign sign, LoggedList<std::int64_t>& list,
                BootLog& log) {
  if (!count) return cannot_use(line, "no whole number where a count must stand", log);
  if (*count > kMostCount) return cannot_use(line, "a count that no device holds", log);
  if (!allowed(static_cast<double>(*count), sign)) return cannot_use(line, "a count of less than there can be", log);
  list.push_back(logged(line, *count));
}

bool note_size_after(const LogLine& line, std::string_view landmark, Sign sign, LoggedList<double>& list, BootLog& log) {
  Scan scan(line.text);
  if (!scan.past(landmark)) return false;
  note_size(line, scan.size(), sign, list, log);
  return true;
}

bool note_count_after(const LogLine& line, std::string_view landmark, Sign sign, LoggedList<std::int64_t>& list,
                      BootLog& log) {
  Scan scan(line.text);
  if (!scan.past(landmark)) return false;
  while (scan.accept(" ")) continue;
  note_count(line, scan.integer(), sign, list, log);
  return true;
}

}  // namespace kvfit::runtime
