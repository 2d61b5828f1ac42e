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

Logged<double> here(const LogLine& line, double value) {
  return {.value = value, .line = line.number, .writer = line.writer};
}

// "786.00 MiB", "1.20 GiB" behind a landmark, in GiB.
std::optional<double> size_after(std::string_view text, std::string_view landmark) {
  Scan scan(text);
  if (!scan.past(landmark)) return std::nullopt;
  const std::optional<double> number = scan.number();
  if (!number) return std::nullopt;
  if (scan.accept(" GiB")) return number;
  if (scan.accept(" MiB")) return *number / 1024.0;
  if (scan.accept(" KiB")) return *number / 1048576.0;
  return std::nullopt;
}

void read_refusal(const LogLine& line, BootLog& log) {
  Scan scan(line.text);
  if (!scan.past("max seq len (")) return;
  scan.integer();
  if (!scan.past("(")) return;
  if (const std::optional<double> need = scan.number()) log.needed_kv = here(line, *need);
  if (scan.past("available KV cache memory (")) {
    if (const std::optional<double> have = scan.number()) log.refused_with = here(line, *have);
  }
  if (const std::optional<std::int64_t> length = integer_after(line.text, "estimated maximum model length is ")) {
    log.estimated_max_len = Logged<std::int64_t>{.value = *length, .line = line.number, .writer = line.writer};
  }
}

void read_numbers(const LogLine& line, BootLog& log) {
  read_refusal(line, log);
  if (const std::optional<std::int64_t> blocks = integer_after(line.text, "exceeds available Mamba cache blocks (")) {
    log.mamba_blocks = Logged<std::int64_t>{.value = *blocks, .line = line.number, .writer = line.writer};
  }
  if (const std::optional<double> tried = size_after(line.text, "Tried to allocate "))
    log.oom_tried_gib = here(line, *tried);
  Scan free(line.text);
  if (free.past("total capacity of ")) {
    if (const std::optional<double> left = size_after(free.rest(), "of which ")) log.oom_free_gib = here(line, *left);
  }
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
      log.error = Logged<std::string>{.value = std::string(line.text), .line = line.number, .writer = line.writer};
    }
    return;
  }
}

}  // namespace kvfit::runtime
