// SGLang and llama.cpp, where they state the same facts as vLLM.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/boot_log_lines.h"
#include "runtime/log_scan.h"

namespace kvfit::runtime {
namespace {

void note(const LogLine& line, std::optional<double> value, LoggedList<double>& list) {
  if (value) list.push_back({.value = *value, .line = line.number, .writer = line.writer});
}

void note(const LogLine& line, std::optional<std::int64_t> value, LoggedList<std::int64_t>& list) {
  if (value) list.push_back({.value = *value, .line = line.number, .writer = line.writer});
}

std::optional<double> mib_after(std::string_view text, std::string_view landmark) {
  Scan scan(text);
  if (!scan.past(landmark)) return std::nullopt;
  while (scan.accept(" ")) {
  }
  const std::optional<double> number = scan.number();
  return number ? std::optional<double>(*number / 1024.0) : std::nullopt;
}

}  // namespace

// "Load weight end. type=..., avail mem=59.1 GB, mem usage=14.98 GB."
// "KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB"
// "max_total_num_tokens=367404, chunked_prefill_size=8192, max_running_requests=4096, context_len=40960, ..."
void read_sglang_line(const LogLine& line, BootLog& log) {
  if (line.text.find("Load weight end.") != std::string_view::npos) {
    log.engine = "sglang";
    note(line, number_after(line.text, "mem usage="), log.weights);
  }
  if (line.text.find("KV Cache is allocated.") != std::string_view::npos) {
    log.engine = "sglang";
    note(line, integer_after(line.text, "#tokens: "), log.kv_tokens);
    const std::optional<double> k = number_after(line.text, "K size: ");
    const std::optional<double> v = number_after(line.text, "V size: ");
    if (k && v) note(line, std::optional<double>(*k + *v), log.available_kv);
  }
  if (line.text.find("max_total_num_tokens=") != std::string_view::npos) {
    log.engine = "sglang";
    if (const std::optional<std::int64_t> length = integer_after(line.text, "context_len=")) {
      log.max_model_len = Logged<std::int64_t>{.value = *length, .line = line.number, .writer = line.writer};
    }
    if (log.end == BootEnd::unknown) log.end = BootEnd::ready;
  }
  if (line.text.find("Not enough memory. Please try to increase --mem-fraction-static") != std::string_view::npos) {
    log.engine = "sglang";
    log.end = BootEnd::no_blocks;
    log.error = Logged<std::string>{.value = std::string(line.text), .line = line.number, .writer = line.writer};
  }
}

// "load_tensors:        CUDA0 model buffer size = 20345.12 MiB"
// "llama_kv_cache: size = 448.00 MiB (  4096 cells,  28 layers,  1/1 seqs), K (f16): 224.00 MiB, V (f16): 224.00 MiB"
void read_llama_cpp_line(const LogLine& line, BootLog& log) {
  if (line.text.find("model buffer size") != std::string_view::npos && line.text.find("CPU") == std::string_view::npos) {
    log.engine = "llama.cpp";
    note(line, mib_after(line.text, "model buffer size ="), log.weights);
  }
  if (line.text.find("llama_kv_cache") != std::string_view::npos && line.text.find("cells") != std::string_view::npos) {
    log.engine = "llama.cpp";
    note(line, mib_after(line.text, "size ="), log.available_kv);
    Scan scan(line.text);
    if (scan.past("(")) {
      while (scan.accept(" ")) {
      }
      note(line, scan.integer(), log.kv_tokens);
    }
  }
}

}  // namespace kvfit::runtime
