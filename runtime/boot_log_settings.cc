// Lines that state how the engine was configured.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/boot_log_lines.h"
#include "runtime/log_scan.h"

namespace kvfit::runtime {
namespace {

template <typename T>
Logged<T> here(const LogLine& line, T value) {
  return {.value = std::move(value), .line = line.number, .writer = line.writer};
}

// `key=value` of the engine's configuration line, or `'key': value` of "non-default args"; quotes and torch. are dropped.
std::optional<std::string> setting(std::string_view text, std::string_view key) {
  Scan scan(text);
  const std::string assigned = std::string(key) + "=";
  const std::string quoted = "'" + std::string(key) + "': ";
  while (true) {
    const std::string_view before = scan.rest();
    if (scan.past(quoted)) break;
    if (!scan.past(assigned)) return std::nullopt;
    const std::size_t at = before.size() - scan.rest().size() - assigned.size();
    const bool whole = at == 0 || before[at - 1] == ' ' || before[at - 1] == '(' || before[at - 1] == ',';
    if (whole) break;
  }
  std::string_view value;
  if (scan.accept("'") || scan.accept("\"")) {
    value = scan.until("'\"");
  } else {
    value = scan.until(",})\n ");
  }
  if (value.starts_with("torch.")) value.remove_prefix(6);
  if (value.empty() || value == "None") return std::nullopt;
  return std::string(value);
}

void note_text(const LogLine& line, std::string_view key, std::optional<Logged<std::string>>& slot) {
  if (slot) return;
  if (const std::optional<std::string> value = setting(line.text, key)) slot = here(line, *value);
}

void note_count(const LogLine& line, std::string_view key, std::optional<Logged<std::int64_t>>& slot) {
  if (slot) return;
  const std::optional<std::string> value = setting(line.text, key);
  if (!value) return;
  Scan scan(*value);
  if (const std::optional<std::int64_t> number = scan.integer()) slot = here(line, *number);
}

void note_switch(const LogLine& line, std::string_view key, std::optional<Logged<bool>>& slot) {
  if (slot) return;
  const std::optional<std::string> value = setting(line.text, key);
  if (value && (*value == "True" || *value == "False")) slot = here(line, *value == "True");
}

// "speculative_config=SpeculativeConfig(method='mtp', model=..., num_spec_tokens=3)" or "{'method': 'mtp', ...}"
void note_speculative(const LogLine& line, BootLog& log) {
  if (log.speculative) return;
  Scan scan(line.text);
  if (!scan.past("speculative_config")) return;
  const std::string_view rest = scan.rest().substr(0, 400);
  if (rest.starts_with("=None") || rest.starts_with("': None")) return;
  const std::optional<std::string> method = setting(rest, "method");
  std::optional<std::string> tokens = setting(rest, "num_speculative_tokens");
  if (!tokens) tokens = setting(rest, "num_spec_tokens");
  if (method) log.speculative = here(line, *method + (tokens ? " " + *tokens : std::string()));
}

void read_configuration(const LogLine& line, BootLog& log) {
  note_text(line, "model", log.model);
  note_text(line, "dtype", log.dtype);
  note_text(line, "quantization", log.quantization);
  note_text(line, "kv_cache_dtype", log.kv_cache_dtype);
  note_count(line, "max_seq_len", log.max_model_len);
  note_count(line, "max_model_len", log.max_model_len);
  note_count(line, "max_num_seqs", log.max_num_seqs);
  note_count(line, "max_num_batched_tokens", log.max_num_batched_tokens);
  note_count(line, "tensor_parallel_size", log.tensor_parallel_size);
  note_count(line, "pipeline_parallel_size", log.pipeline_parallel_size);
  note_count(line, "data_parallel_size", log.data_parallel_size);
  note_switch(line, "enforce_eager", log.eager);
  note_switch(line, "enable_prefix_caching", log.prefix_caching);
  note_speculative(line, log);
  if (const std::optional<std::string> value = setting(line.text, "gpu_memory_utilization"); value && !log.utilization) {
    Scan scan(*value);
    if (const std::optional<double> number = scan.number()) log.utilization = here(line, *number);
  }
}

void read_cache_choices(const LogLine& line, BootLog& log) {
  Scan backend(line.text);
  if (!log.attention_backend && backend.past("Using ")) {
    const std::string word(backend.until(" "));
    if (backend.accept(" attention backend") || backend.accept(" backend")) log.attention_backend = here(line, word);
  }
  Scan dtype(line.text);
  if (dtype.past("Using ")) {
    const std::string word(dtype.until(" "));
    if (dtype.accept(" data type to store kv cache") || dtype.accept(" KV cache format")) log.kv_format = here(line, word);
  }
  for (const std::string_view landmark : {"Setting attention block size to ", "Setting kv cache block size to "}) {
    if (const std::optional<std::int64_t> size = integer_after(line.text, landmark))
      log.attention_block_size = here(line, *size);
  }
  if (const std::optional<double> pad = number_after(line.text, "Padding mamba page size by ")) {
    log.mamba_padding_percent = here(line, *pad);
  }
  Scan mode(line.text);
  if (mode.past("Mamba cache mode is set to '")) log.mamba_mode = here(line, std::string(mode.until("'")));
  Scan padding(line.text);
  if (padding.past("Add ")) {
    const std::optional<std::int64_t> count = padding.integer();
    if (count && padding.accept(" padding layers")) log.padding_layers = here(line, *count);
  }
}

}  // namespace

void read_settings_line(const LogLine& line, BootLog& log) {
  Scan engine(line.text);
  if (engine.past("LLM engine (v")) {
    if (!log.version) log.version = here(line, std::string(engine.until(")")));
    read_configuration(line, log);
  } else if (line.text.find("non-default args:") != std::string_view::npos) {
    read_configuration(line, log);
  }
  Scan version(line.text);
  if (!log.version && (version.past("vLLM API server version ") || version.past("vLLM server version "))) {
    log.version = here(line, std::string(version.until(" ,)")));
  }
  if (const std::optional<std::int64_t> length = integer_after(line.text, "Using max model len ");
      length && !log.max_model_len) {
    log.max_model_len = here(line, *length);
  }
  if (const std::optional<std::int64_t> batch =
          integer_after(line.text, "Chunked prefill is enabled with max_num_batched_tokens=")) {
    log.max_num_batched_tokens = here(line, *batch);
  }
  if (line.text.find("Using V2 Model Runner") != std::string_view::npos) log.v2_runner = here(line, true);
  read_cache_choices(line, log);
}

}  // namespace kvfit::runtime
