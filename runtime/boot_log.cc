#include "runtime/boot_log.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/boot_log_lines.h"
#include "runtime/log_scan.h"

namespace kvfit::runtime {
namespace {

constexpr std::size_t kLongestLine = std::size_t{64} << 10;
constexpr std::string_view kEngineStarts = "LLM engine (v";

void read_message(const LogLine& line, BootLog& log) {
  constexpr std::array kReaders = {read_settings_line, read_memory_line, read_capacity_line,
                                   read_failure_line,  read_sglang_line, read_llama_cpp_line};
  std::vector<std::string>& engines = log.engine_writers;
  const bool starts = line.text.find(kEngineStarts) != std::string_view::npos;
  if (starts && std::find(engines.begin(), engines.end(), line.writer) == engines.end()) engines.push_back(line.writer);
  for (void (*reader)(const LogLine&, BootLog&) : kReaders) reader(line, log);
}

template <typename Take>
void for_each_line(std::string_view text, Take take) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    take(text.substr(start, end - start));
    start = end + 1;
  }
}

// A line of a log shipper is a JSON object whose text holds the engine's own line, or several.
template <typename Take>
void for_each_message(std::string_view line, Take take) {
  const std::optional<std::string> wrapped = wrapped_text(line.substr(0, kLongestLine));
  if (!wrapped) return take(line.substr(0, kLongestLine));
  for_each_line(*wrapped, take);
}

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
  ++log.lines;
  for_each_message(text, [&log](std::string_view message) {
    const std::string line = plain_line(message);
    read_message({.text = line, .number = log.lines, .writer = writer_of(line)}, log);
  });
}

BootLog read_boot_log(std::string_view text) {
  BootLog log;
  for_each_line(text, [&log](std::string_view line) { read_boot_line(line, log); });
  return log;
}

std::vector<BootLog> read_boot_logs(std::string_view text) {
  std::vector<BootLog> out(1);
  for_each_line(text, [&out](std::string_view line) {
    const int number = out.back().lines + 1;
    for_each_message(line, [&out, number](std::string_view message) {
      const std::string plain = plain_line(message);
      const LogLine here{.text = plain, .number = number, .writer = writer_of(plain)};
      if (begins_another_boot(here, out.back())) {
        out.emplace_back();
        out.back().first_line = number;
      }
      read_message(here, out.back());
    });
    out.back().lines = number;
  });
  return out;
}

bool begins_another_boot(const LogLine& line, const BootLog& log) {
  const auto holds = [&line](std::string_view text) { return line.text.find(text) != std::string_view::npos; };
  const bool engine = holds(kEngineStarts);
  if (!engine && !holds("vLLM API server version ") && !holds("vLLM server version ") && !holds("server_args=ServerArgs(")) {
    return false;
  }
  const bool got_somewhere = states_memory(log) || !log.free_at_start.empty() || log.end != BootEnd::unknown;
  if (!got_somewhere) return false;
  // The engines of a data-parallel group start side by side, each once.
  const std::vector<std::string>& known = log.engine_writers;
  const bool sibling = engine && !line.writer.empty() && !known.empty() && log.end == BootEnd::unknown &&
                       std::find(known.begin(), known.end(), line.writer) == known.end();
  return !sibling;
}

bool states_memory(const BootLog& log) {
  return !log.weights.empty() || !log.available_kv.empty() || !log.total.empty() || !log.consumed.empty() ||
         !log.kv_tokens.empty() || !log.num_gpu_blocks.empty() || log.refused_with || log.needed_kv || log.mamba_blocks;
}

std::optional<Logged<double>> smallest(const LoggedList<double>& list) {
  if (list.empty()) return std::nullopt;
  return *std::min_element(list.begin(), list.end(),
                           [](const Logged<double>& a, const Logged<double>& b) { return a.value < b.value; });
}

}  // namespace kvfit::runtime
