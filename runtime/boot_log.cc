#include "runtime/boot_log.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/boot_log_lines.h"
#include "runtime/log_scan.h"

namespace kvfit::runtime {
namespace {

constexpr std::size_t kLongestLine = std::size_t{64} << 10;

}  // namespace

std::string_view boot_end_name(BootEnd end) {
  switch (end) {
    case BootEnd::unknown:
      return "unknown";
    case BootEnd::ready:
      return "ready";
    case BootEnd::free_memory:
      return "free_memory";
    case BootEnd::no_blocks:
      return "no_blocks";
    case BootEnd::kv_too_small:
      return "kv_too_small";
    case BootEnd::mamba_blocks:
      return "mamba_blocks";
    case BootEnd::align_block:
      return "align_block";
    case BootEnd::oom:
      return "oom";
    case BootEnd::length:
      return "length";
    case BootEnd::other:
      return "other";
  }
  return "unknown";
}

void read_boot_line(std::string_view text, BootLog& log) {
  constexpr std::array kReaders = {read_settings_line, read_memory_line, read_capacity_line,
                                   read_failure_line,  read_sglang_line, read_llama_cpp_line};
  ++log.lines;
  const std::string line = plain_line(text.substr(0, kLongestLine));
  const LogLine here{.text = line, .number = log.lines, .writer = writer_of(line)};
  for (void (*reader)(const LogLine&, BootLog&) : kReaders) reader(here, log);
}

BootLog read_boot_log(std::string_view text) {
  BootLog log;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    read_boot_line(text.substr(start, end - start), log);
    start = end + 1;
  }
  return log;
}

std::optional<Logged<double>> smallest(const LoggedList<double>& list) {
  if (list.empty()) return std::nullopt;
  return *std::min_element(list.begin(), list.end(),
                           [](const Logged<double>& a, const Logged<double>& b) { return a.value < b.value; });
}

}  // namespace kvfit::runtime
