// Lines that state memory: weights, the profile run, the budget, graphs, the pool.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/boot_log_lines.h"
#include "runtime/log_scan.h"

namespace kvfit::runtime {
namespace {

// "Free memory on device (cuda:0) (78.68/79.19 GiB) on startup": one unit for both.
void read_free(const LogLine& line, BootLog& log) {
  Scan scan(line.text);
  if (!scan.past("Free memory on device") || !scan.past("(")) return;
  if (scan.rest().starts_with("cuda") || scan.rest().starts_with("xpu") || scan.rest().starts_with("hip")) scan.past("(");
  const std::optional<double> free = scan.number();
  const std::optional<double> total = scan.accept("/") ? scan.number() : std::nullopt;
  const std::optional<double> unit = scan.unit();
  if (!free || !total || !unit) return cannot_use(line, "no number with a unit where a size must stand", log);
  note_size(line, *free * *unit, Sign::not_negative, log.free_at_start, log);
  note_size(line, *total * *unit, Sign::positive, log.total, log);
}

void note_share(const LogLine& line, std::optional<double> share, BootLog& log) {
  if (!share || !(*share > 0 && *share <= 1)) return cannot_use(line, "a utilisation that is no share of 1", log);
  if (!log.utilization) log.utilization = logged(line, *share);
}

// "Desired GPU memory utilization is (0.95, 75.23 GiB)", "desired GPU memory utilization (0.9, 21.2 GiB)"
void read_requested(const LogLine& line, BootLog& log) {
  Scan scan(line.text);
  if (!scan.past("GPU memory utilization") || !scan.past("(")) return;
  note_share(line, scan.number(), log);
  if (scan.past(", ")) note_size(line, scan.size(), Sign::positive, log.requested, log);
}

// "Actual usage is W GiB for weight, A GiB for peak activation, N GiB for non-torch memory, and C GiB for CUDAGraph memory",
// from v0.26 "C0 GiB for consumed memory (weights + non-torch), A GiB for peak activation, and C GiB for CUDAGraph memory".
void read_breakdown(const LogLine& line, BootLog& log) {
  Scan scan(line.text);
  if (!scan.past("Actual usage is ")) return;
  const bool merged = scan.rest().find(" for consumed memory") != std::string_view::npos;
  note_size(line, scan.size(), Sign::positive, merged ? log.consumed : log.weights, log);
  if (scan.past(", ")) note_size(line, scan.size(), Sign::not_negative, log.activation, log);
  if (!merged && scan.past(", ")) note_size(line, scan.size(), Sign::any, log.non_torch, log);
  if (scan.past("and ")) note_size(line, scan.size(), Sign::any, log.graphs, log);
  log.merged_breakdown = log.merged_breakdown || merged;
}

// The first engine, one log call whose lines each have a prefix of their own. From v0.7: "the current vLLM instance can use
// total_gpu_memory (23.58GiB) x gpu_memory_utilization (0.90) = 21.22GiB", "model weights take 14.99GiB; non_torch_memory
// takes 0.35GiB; PyTorch activation peak memory takes 1.26GiB; the rest of the memory reserved for KV Cache is 4.62GiB".
// v0.6.5: a table.
void read_first_engine(const LogLine& line, BootLog& log) {
  struct Term {
    std::string_view landmark;
    Sign sign;
    LoggedList<double> BootLog::* list;
  };
  constexpr std::array kTerms = {
      Term{"total_gpu_memory (", Sign::positive, &BootLog::total},
      Term{"model weights take", Sign::positive, &BootLog::weights},
      Term{"non_torch_memory takes ", Sign::any, &BootLog::non_torch},
      Term{"activation peak memory takes ", Sign::not_negative, &BootLog::activation},
      Term{"reserved for KV Cache is ", Sign::any, &BootLog::available_kv},
      Term{"total_gpu_memory  ", Sign::positive, &BootLog::total},
      Term{"the current vLLM instance can use  ", Sign::positive, &BootLog::requested},
      Term{"non_torch_memory  ", Sign::any, &BootLog::non_torch},
      Term{"PyTorch activation peak memory  ", Sign::not_negative, &BootLog::activation},
      Term{"available_kv_cache_memory  ", Sign::any, &BootLog::available_kv},
  };
  for (const Term& term : kTerms) note_size_after(line, term.landmark, term.sign, log.*term.list, log);
  Scan product(line.text);
  if (product.past("gpu_memory_utilization (")) {
    note_share(line, product.number(), log);
    if (product.past("= ")) note_size(line, product.size(), Sign::positive, log.requested, log);
  }
  Scan table(line.text);
  if (table.past("gpu_memory_utilization  ")) {
    while (table.accept(" ")) continue;
    note_share(line, table.number(), log);
  }
}

// From v0.18: "The current --gpu-memory-utilization=0.9200 is equivalent to --gpu-memory-utilization=0.9042 without CUDA
// graph memory profiling".
void read_equivalent(const LogLine& line, BootLog& log) {
  Scan scan(line.text);
  if (scan.past("The current --gpu-memory-utilization=")) note_share(line, scan.number(), log);
}

// "Maximum concurrency for 8,192 tokens per request: 58.11x"
void read_concurrency(const LogLine& line, Scan scan, BootLog& log) {
  const std::int64_t length = scan.integer().value_or(0);
  const double times = scan.past(": ") ? scan.number().value_or(-1) : -1;
  if (length < 1 || times < 0) return cannot_use(line, "no length or no number of requests", log);
  log.concurrency_length = logged(line, length);
  log.concurrency = logged(line, times);
}

}  // namespace

void read_memory_line(const LogLine& line, BootLog& log) {
  if (!note_size_after(line, "Model loading took ", Sign::positive, log.weights, log))
    note_size_after(line, "Loading model weights took ", Sign::positive, log.weights, log);
  note_size_after(line, "Available KV cache memory: ", Sign::any, log.available_kv, log);
  note_size_after(line, "KV cache memory reduced to ", Sign::any, log.available_kv, log);
  if (line.text.find("specified by kv_cache_memory_bytes") != std::string_view::npos) {
    note_size_after(line, "Initial free memory ", Sign::not_negative, log.free_at_start, log);
    note_size_after(line, "reserved ", Sign::positive, log.reserved_kv, log);
  }
  note_size_after(line, "Estimated CUDA graph memory: ", Sign::not_negative, log.graphs_estimated, log);
  Scan captured(line.text);
  if (captured.past("Graph capturing finished in ") && captured.past("took "))
    note_size(line, captured.size(), Sign::any, log.graphs, log);
  read_free(line, log);
  read_requested(line, log);
  read_breakdown(line, log);
  read_first_engine(line, log);
  read_equivalent(line, log);
}

void read_capacity_line(const LogLine& line, BootLog& log) {
  note_count_after(line, "GPU KV cache size: ", Sign::not_negative, log.kv_tokens, log);
  Scan scan(line.text);
  if (scan.past("Maximum concurrency for ")) read_concurrency(line, scan, log);
  for (const std::string_view landmark : {"# GPU blocks: ", "# cuda blocks: ", "# CUDA blocks: "})
    note_count_after(line, landmark, Sign::not_negative, log.num_gpu_blocks, log);
  note_count_after(line, "with num_gpu_blocks_override=", Sign::positive, log.blocks_override, log);
  Scan fitted(line.text);
  if (fitted.past("Auto-fit max_model_len: reduced from ") && fitted.past(" to ")) {
    if (const std::optional<std::int64_t> length = fitted.integer(); length && *length > 0)
      log.auto_length = logged(line, *length);
  }
  const bool ready = line.text.find("Application startup complete") != std::string_view::npos ||
                     line.text.find("init engine (profile, create kv cache, warmup model) took") != std::string_view::npos;
  if (ready && log.end == BootEnd::unknown) log.end = BootEnd::ready;
}

}  // namespace kvfit::runtime
