// The readers behind boot_log.h: each looks at one line and notes the facts it knows how to read. Used by boot_log*.cc only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/boot_log.h"

namespace kvfit::runtime {

struct LogLine {
  std::string_view text;
  int number = 0;
  std::string writer;
};

void read_settings_line(const LogLine& line,
                        BootLog& log);                     ///< version, model, parallel sizes, KV dtype, backend, block size
void read_memory_line(const LogLine& line, BootLog& log);  ///< weights, profile, budget, graphs
void read_capacity_line(const LogLine& line, BootLog& log);  ///< tokens, concurrency, blocks
void read_failure_line(const LogLine& line, BootLog& log);   ///< how it ended
void read_sglang_line(const LogLine& line, BootLog& log);
void read_llama_cpp_line(const LogLine& line, BootLog& log);

/// Whether the line is an engine's first of a start, and this log already holds one that got somewhere.
bool begins_another_boot(const LogLine& line, const BootLog& log);

template <typename T>
Logged<T> logged(const LogLine& line, T value) {
  return {.value = std::move(value), .line = line.number, .writer = line.writer};
}

/// What a figure may be: a card's memory is more than nothing, what is left of a budget may be less.
enum class Sign { positive, not_negative, any };

/// Notes what was read where a figure must stand; what is no figure, or cannot be one, becomes a remark on the line.
void note_size(const LogLine& line, std::optional<double> gib, Sign sign, LoggedList<double>& list, BootLog& log);
void note_count(const LogLine& line, std::optional<std::int64_t> count, Sign sign, LoggedList<std::int64_t>& list,
                BootLog& log);

/// The same for the figure behind a landmark; false when the line lacks the landmark.
bool note_size_after(const LogLine& line, std::string_view landmark, Sign sign, LoggedList<double>& list, BootLog& log);
bool note_count_after(const LogLine& line, std::string_view landmark, Sign sign, LoggedList<std::int64_t>& list,
                      BootLog& log);

/// A remark that the line states something that cannot be used; kept once a line, and not without bound.
void cannot_use(const LogLine& line, std::string_view why, BootLog& log);

}  // namespace kvfit::runtime
