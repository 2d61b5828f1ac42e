// Lines that state memory: weights, the profile run, the budget, graphs, the pool.
#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/boot_log_lines.h"
#include "runtime/log_scan.h"

namespace kvfit::runtime {
namespace {

template <typename T>
void note(const LogLine& line, std::optional<T> value, LoggedList<T>& list) {
  if (value) list.push_back({.value = *value, .line = line.number, .writer = line.writer});
}

template <typename T>
void note(const LogLine& line, std::optional<T> value, std::optional<Logged<T>>& slot) {
  if (value) slot = Logged<T>{.value = *value, .line = line.number, .writer = line.writer};
}

// "Free memory on device (cuda:0) (78.68/79.19 GiB) on startup"
void read_free(const LogLine& line, BootLog& log) {
  Scan scan(line.text);
  if (!scan.past("Free memory on device") || !scan.past("(")) return;
  std::optional<double> free = scan.number();
  if (!free && scan.past("(")) free = scan.number();
  if (!free || !scan.accept("/")) return;
  note(line, free, log.free_at_start);
  note(line, scan.number(), log.total);
}

// "Desired GPU memory utilization is (0.95, 75.23 GiB)", "desired GPU memory utilization (0.9, 21.2 GiB)"
void read_requested(const LogLine& line, BootLog& log) {
  Scan scan(line.text);
  if (!scan.past("GPU memory utilization") || !scan.past("(")) return;
  const std::optional<double> share = scan.number();
  if (!share || !scan.accept(", ")) return;
  if (!log.utilization) note(line, share, log.utilization);
  note(line, scan.number(), log.requested);
}

// "Actual usage is W GiB for weight, A GiB for peak activation, N GiB for non-torch memory, and C GiB for CUDAGraph memory",
// from v0.26 "C0 GiB for consumed memory (weights + non-torch), A GiB for peak activation, and C GiB for CUDAGraph memory".
void read_breakdown(const LogLine& line, BootLog& log) {
  Scan scan(line.text);
  if (!scan.past("Actual usage is ")) return;
  const std::optional<double> first = scan.number();
  if (!first) return;
  const bool merged = scan.accept(" GiB for consumed memory");
  note(line, first, merged ? log.consumed : log.weights);
  if (scan.past(", ")) note(line, scan.number(), log.activation);
  if (!merged && scan.past(", ")) note(line, scan.number(), log.non_torch);
  if (scan.past("and ")) note(line, scan.number(), log.graphs);
}

// Number behind a landmark and any blanks: "model weights take 14.96GiB", "model weights take   14.96GiB".
std::optional<double> padded_number_after(std::string_view text, std::string_view landmark) {
  Scan scan(text);
  if (!scan.past(landmark)) return std::nullopt;
  while (scan.accept(" ")) continue;
  return scan.number();
}

// The first engine, one log call whose lines each have a prefix of their own. From v0.7: "the current vLLM instance can use
// total_gpu_memory (23.58GiB) x gpu_memory_utilization (0.90) = 21.22GiB", "model weights take 14.99GiB; non_torch_memory
// takes 0.35GiB; PyTorch activation peak memory takes 1.26GiB; the rest of the memory reserved for KV Cache is 4.62GiB".
// v0.6.5: a table.
void read_first_engine(const LogLine& line, BootLog& log) {
  const std::string_view text = line.text;
  note(line, number_after(text, "total_gpu_memory ("), log.total);
  note(line, number_after(text, "gpu_memory_utilization ("), log.utilization);
  Scan scan(text);
  if (scan.past("gpu_memory_utilization (") && scan.past("= ")) note(line, scan.number(), log.requested);
  note(line, padded_number_after(text, "model weights take"), log.weights);
  note(line, number_after(text, "non_torch_memory takes "), log.non_torch);
  note(line, number_after(text, "activation peak memory takes "), log.activation);
  note(line, number_after(text, "reserved for KV Cache is "), log.available_kv);
  note(line, padded_number_after(text, "total_gpu_memory  "), log.total);
  note(line, padded_number_after(text, "gpu_memory_utilization  "), log.utilization);
  note(line, padded_number_after(text, "the current vLLM instance can use  "), log.requested);
  note(line, padded_number_after(text, "non_torch_memory  "), log.non_torch);
  note(line, padded_number_after(text, "PyTorch activation peak memory  "), log.activation);
  note(line, padded_number_after(text, "available_kv_cache_memory  "), log.available_kv);
}

}  // namespace

void read_memory_line(const LogLine& line, BootLog& log) {
  if (line.text.find("Model loading took ") != std::string_view::npos) {
    note(line, number_after(line.text, "Model loading took "), log.weights);
  } else {
    note(line, number_after(line.text, "Loading model weights took "), log.weights);
  }
  note(line, number_after(line.text, "Available KV cache memory: "), log.available_kv);
  note(line, number_after(line.text, "KV cache memory reduced to "), log.available_kv);
  if (line.text.find("specified by kv_cache_memory_bytes") != std::string_view::npos) {
    note(line, number_after(line.text, "Initial free memory "), log.free_at_start);
    note(line, number_after(line.text, "reserved "), log.available_kv);
  }
  note(line, number_after(line.text, "Estimated CUDA graph memory: "), log.graphs_estimated);
  Scan captured(line.text);
  if (captured.past("Graph capturing finished in ") && captured.past("took ")) note(line, captured.number(), log.graphs);
  read_free(line, log);
  read_requested(line, log);
  read_breakdown(line, log);
  read_first_engine(line, log);
}

void read_capacity_line(const LogLine& line, BootLog& log) {
  note(line, integer_after(line.text, "GPU KV cache size: "), log.kv_tokens);
  Scan scan(line.text);
  if (scan.past("Maximum concurrency for ")) {
    note(line, scan.integer(), log.concurrency_length);
    if (scan.past(": ")) note(line, scan.number(), log.concurrency);
  }
  note(line, integer_after(line.text, "# GPU blocks: "), log.num_gpu_blocks);
  note(line, integer_after(line.text, "# cuda blocks: "), log.num_gpu_blocks);
  note(line, integer_after(line.text, "# CUDA blocks: "), log.num_gpu_blocks);
  Scan fitted(line.text);
  if (fitted.past("Auto-fit max_model_len: reduced from ") && fitted.past(" to "))
    note(line, fitted.integer(), log.auto_length);
  const bool ready = line.text.find("Application startup complete") != std::string_view::npos ||
                     line.text.find("init engine (profile, create kv cache, warmup model) took") != std::string_view::npos;
  if (ready && log.end == BootEnd::unknown) log.end = BootEnd::ready;
}

}  // namespace kvfit::runtime
