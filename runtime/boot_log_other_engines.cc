// SGLang and llama.cpp, where they state the same facts as vLLM.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/boot_log_lines.h"
#include "runtime/log_scan.h"

namespace kvfit::runtime {
namespace {

bool holds(const LogLine& line, std::string_view text) { return line.text.find(text) != std::string_view::npos; }

// "server_args=ServerArgs(model_path='Qwen/Qwen3-8B', ..., tp_size=2, ...)"
void read_server_args(const LogLine& line, BootLog& log) {
  Scan scan(line.text);
  if (!scan.past("server_args=ServerArgs(")) return;
  log.engine = "sglang";
  Scan model(scan.rest());
  if (!log.model && (model.past("model_path='") || model.past("model_path=\"")))
    log.model = logged(line, std::string(model.until("'\"")));
  for (const auto& [key, slot] :
       {std::pair("tp_size=", &BootLog::tensor_parallel_size), std::pair("pp_size=", &BootLog::pipeline_parallel_size)}) {
    const std::optional<std::int64_t> size = integer_after(scan.rest(), key);
    if (size && *size >= 1 && *size <= 4096 && !(log.*slot)) log.*slot = logged(line, *size);
  }
}

// "KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB"; with a latent cache "KV size: 16.46 GB"
void read_sglang_pool(const LogLine& line, BootLog& log) {
  if (!holds(line, "KV Cache is allocated.")) return;
  log.engine = "sglang";
  note_count_after(line, "#tokens: ", Sign::not_negative, log.kv_tokens, log);
  if (note_size_after(line, "KV size: ", Sign::not_negative, log.available_kv, log)) return;
  LoggedList<double> parts;
  note_size_after(line, "K size: ", Sign::not_negative, parts, log);
  note_size_after(line, "V size: ", Sign::not_negative, parts, log);
  if (parts.size() == 2) log.available_kv.push_back(logged(line, parts[0].value + parts[1].value));
}

bool sixteen_bit(std::string_view text, std::string_view landmark) {
  Scan scan(text);
  if (!scan.past(landmark)) return true;
  const std::string_view type = scan.until(")");
  return type == "f16" || type == "bf16";
}

}  // namespace

// "Load weight end. type=..., avail mem=59.1 GB, mem usage=14.98 GB."
// "max_total_num_tokens=367404, chunked_prefill_size=8192, max_running_requests=4096, context_len=40960, ..."
void read_sglang_line(const LogLine& line, BootLog& log) {
  read_server_args(line, log);
  if (holds(line, "Load weight end.")) {
    log.engine = "sglang";
    note_size_after(line, "mem usage=", Sign::positive, log.weights, log);
  }
  read_sglang_pool(line, log);
  if (holds(line, "max_total_num_tokens=")) {
    log.engine = "sglang";
    const std::optional<std::int64_t> length = integer_after(line.text, "context_len=");
    if (length && *length > 0) log.max_model_len = logged(line, *length);
    if (log.end == BootEnd::unknown) log.end = BootEnd::ready;
  }
  if (holds(line, "Not enough memory. Please try to increase --mem-fraction-static")) {
    log.engine = "sglang";
    log.end = BootEnd::no_blocks;
    log.error = logged(line, std::string(line.text));
  }
}

// "load_tensors:        CUDA0 model buffer size = 20345.12 MiB"
// "llama_kv_cache: size = 448.00 MiB (  4096 cells,  28 layers,  1/1 seqs), K (f16): 224.00 MiB, V (f16): 224.00 MiB": cells
// of one stream, sequences and streams
void read_llama_cpp_line(const LogLine& line, BootLog& log) {
  if (holds(line, "model buffer size") && !holds(line, "CPU")) {
    log.engine = "llama.cpp";
    note_size_after(line, "model buffer size =", Sign::not_negative, log.weights, log);
  }
  if (!holds(line, "llama_kv_cache") || !holds(line, " cells,")) return;
  log.engine = "llama.cpp";
  if (!sixteen_bit(line.text, "K (") || !sixteen_bit(line.text, "V ("))
    return cannot_use(line, "a KV cache of a type that kvfit does not plan with", log);
  note_size_after(line, "size =", Sign::positive, log.available_kv, log);
  note_count_after(line, "(", Sign::positive, log.kv_tokens, log);
  Scan streams(line.text);
  if (!streams.past(" layers, ") || !streams.past("/") || log.kv_tokens.empty()) return;
  const std::int64_t count = streams.integer().value_or(1);
  if (count > 1 && count <= 4096) log.kv_tokens.back().value *= count;
}

}  // namespace kvfit::runtime
