// The readers behind boot_log.h: each looks at one line and notes the facts it knows how to read. Used by boot_log.cc only.
#pragma once

#include <string>
#include <string_view>

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

}  // namespace kvfit::runtime
