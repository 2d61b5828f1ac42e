// Lines that say how a start failed, in the engine's own words of every era.
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/boot_log_lines.h"
#include "runtime/log_scan.h"

namespace kvfit::runtime {
namespace {

struct Sentence {
  std::string_view landmark;
  BootEnd end;
};

// The first that a log shows is the cause; what follows are echoes from other processes.
constexpr std::array kSentences = {
    Sentence{"on startup is less than desired GPU memory utilization", BootEnd::free_memory},
    Sentence{"GiB KV cache is needed, which is larger than the available KV cache memory", BootEnd::kv_too_small},
    Sentence{"is larger than the maximum number of tokens that can be stored in KV cache", BootEnd::kv_too_small},
    Sentence{"No available memory for the cache blocks", BootEnd::no_blocks},
    Sentence{"Cannot auto-fit max_model_len", BootEnd::no_blocks},
    Sentence{"exceeds available Mamba cache blocks", BootEnd::mamba_blocks},
    Sentence{"In Mamba cache align mode, block_size", BootEnd::align_block},
    Sentence{"is greater than the derived max_model_len", BootEnd::length},
    Sentence{"CUDA out of memory", BootEnd::oom},
    Sentence{"OutOfMemoryError", BootEnd::oom},
    Sentence{"Engine core initialization failed", BootEnd::other},
};

// One figure where a line holds one; the last one holds.
void note_one(const LogLine& line, std::optional<double> gib, Sign sign, std::optional<Logged<double>>& slot, BootLog& log) {
  LoggedList<double> read;
  note_size(line, gib, sign, read, log);
  if (!read.empty()) slot = read.front();
}

void note_one(const LogLine& line, std::string_view landmark, std::optional<Logged<std::int64_t>>& slot, BootLog& log) {
  LoggedList<std::int64_t> read;
  note_count_after(line, landmark, Sign::not_negative, read, log);
  if (!read.empty()) slot = read.front();
}

void read_refusal(const LogLine& line, BootLog& log) {
  Scan scan(line.text);
  if (!scan.past("max seq len (")) return;
  if (const std::optional<std::int64_t> length = scan.integer(); length && *length > 0)
    log.refused_length = logged(line, *length);
  if (!scan.past("(")) return;
  note_one(line, scan.size(), Sign::positive, log.needed_kv, log);
  if (scan.past("available KV cache memory (")) note_one(line, scan.size(), Sign::any, log.refused_with, log);
  note_one(line, "estimated maximum model length is ", log.estimated_max_len, log);
}

void read_numbers(const LogLine& line, BootLog& log) {
  read_refusal(line, log);
  note_one(line, "exceeds available Mamba cache blocks (", log.mamba_blocks, log);
  Scan tried(line.text);
  if (tried.past("Tried to allocate ")) note_one(line, tried.size(), Sign::not_negative, log.oom_tried_gib, log);
  Scan free(line.text);
  if (free.past("total capacity of ") && free.past("of which "))
    note_one(line, free.size(), Sign::not_negative, log.oom_free_gib, log);
}

bool decides(BootEnd seen, BootEnd next) {
  if (seen == BootEnd::unknown || seen == BootEnd::ready || seen == BootEnd::other)
    return next != BootEnd::other || seen != BootEnd::other;
  return false;
}

}  // namespace

void read_failure_line(const LogLine& line, BootLog& log) {
  for (const Sentence& sentence : kSentences) {
    if (line.text.find(sentence.landmark) == std::string_view::npos) continue;
    read_numbers(line, log);
    if (decides(log.end, sentence.end)) {
      log.end = sentence.end;
      log.error = logged(line, std::string(line.text));
    }
    return;
  }
}

}  // namespace kvfit::runtime
