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

// Where the value of `key` begins: `key=value` of the engine's configuration line, `'key': value` of "non-default args".
std::optional<Scan> value_of(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::string_view rest = text.substr(at + key.size());
    const char before = at == 0 ? ' ' : text[at - 1];
    const bool quoted = (before == '\'' || before == '"') && rest.starts_with(std::string{before, ':', ' '});
    const bool assigned = (before == ' ' || before == '(' || before == ',') && rest.starts_with("=");
    if (quoted) return Scan(rest.substr(3));
    if (assigned) return Scan(rest.substr(1));
  }
  return std::nullopt;
}

// The value as text; quotes and torch. are dropped, None is absence.
std::optional<std::string> setting(std::string_view text, std::string_view key) {
  std::optional<Scan> found = value_of(text, key);
  if (!found) return std::nullopt;
  Scan& scan = *found;
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
  if (const std::optional<std::string> value = setting(line.text, key)) slot = logged(line, *value);
}

constexpr std::int64_t kMostTokens = std::int64_t{1} << 32;
constexpr std::int64_t kMostRanks = 4096;

// "auto" and -1 leave the length to the engine: the log then says elsewhere what it chose.
void note_count(const LogLine& line, std::string_view key, std::int64_t most, std::optional<Logged<std::int64_t>>& slot,
                BootLog& log) {
  if (slot) return;
  const std::optional<std::string> value = setting(line.text, key);
  if (!value || *value == "auto" || *value == "-1") return;
  Scan scan(*value);
  const std::optional<std::int64_t> number = scan.integer();
  if (!number || *number < 1 || *number > most) return cannot_use(line, std::string(key) + " is no count", log);
  slot = logged(line, *number);
}

void note_share(const LogLine& line, std::string_view key, std::optional<Logged<double>>& slot, BootLog& log) {
  const std::optional<std::string> value = setting(line.text, key);
  if (!value || slot) return;
  Scan scan(*value);
  const std::optional<double> number = scan.number();
  if (!number || !(*number > 0 && *number <= 1)) return cannot_use(line, "a utilisation that is no share of 1", log);
  slot = logged(line, *number);
}

void note_switch(const LogLine& line, std::string_view key, std::optional<Logged<bool>>& slot) {
  if (slot) return;
  const std::optional<std::string> value = setting(line.text, key);
  if (value && (*value == "True" || *value == "False")) slot = logged(line, *value == "True");
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
  if (!method) return;
  log.speculative = logged(line, *method);
  if (tokens) {
    Scan count(*tokens);
    if (const std::optional<std::int64_t> number = count.integer(); number && *number > 0 && *number <= 64)
      log.speculative_tokens = logged(line, *number);
  }
  const std::optional<std::string> draft = setting(rest, "model");
  if (draft && (!log.model || *draft != log.model->value)) log.draft_model = logged(line, *draft);
}

void read_configuration(const LogLine& line, BootLog& log) {
  note_text(line, "model", log.model);
  note_text(line, "dtype", log.dtype);
  note_text(line, "quantization", log.quantization);
  note_text(line, "kv_cache_dtype", log.kv_cache_dtype);
  note_count(line, "max_seq_len", kMostTokens, log.max_model_len, log);
  note_count(line, "max_model_len", kMostTokens, log.max_model_len, log);
  note_count(line, "max_num_seqs", kMostTokens, log.max_num_seqs, log);
  note_count(line, "max_num_batched_tokens", kMostTokens, log.max_num_batched_tokens, log);
  note_count(line, "tensor_parallel_size", kMostRanks, log.tensor_parallel_size, log);
  note_count(line, "pipeline_parallel_size", kMostRanks, log.pipeline_parallel_size, log);
  note_count(line, "data_parallel_size", kMostRanks, log.data_parallel_size, log);
  note_switch(line, "enforce_eager", log.eager);
  note_switch(line, "enable_prefix_caching", log.prefix_caching);
  note_speculative(line, log);
  note_share(line, "gpu_memory_utilization", log.utilization, log);
}

// "Using FLASH_ATTN attention backend out of potential backends: [...]": names in capitals, so that no other word is taken.
void read_backend(const LogLine& line, BootLog& log) {
  Scan scan(line.text);
  if (log.attention_backend || !scan.past("Using ")) return;
  const std::string word(scan.until(" "));
  const bool name = word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
  if (name && !word.empty() && scan.accept(" attention backend")) log.attention_backend = logged(line, word);
}

void read_cache_choices(const LogLine& line, BootLog& log) {
  read_backend(line, log);
  Scan dtype(line.text);
  if (dtype.past("Using ")) {
    const std::string word(dtype.until(" "));
    if (dtype.accept(" data type to store kv cache") || dtype.accept(" KV cache format")) log.kv_format = logged(line, word);
  }
  for (const std::string_view landmark : {"Setting attention block size to ", "Setting kv cache block size to "}) {
    LoggedList<std::int64_t> sizes;
    note_count_after(line, landmark, Sign::positive, sizes, log);
    if (!sizes.empty()) log.attention_block_size = sizes.front();
  }
  if (const std::optional<double> pad = number_after(line.text, "Padding mamba page size by ")) {
    log.mamba_padding_percent = logged(line, *pad);
  }
  Scan mode(line.text);
  if (mode.past("Mamba cache mode is set to '")) log.mamba_mode = logged(line, std::string(mode.until("'")));
  Scan padding(line.text);
  if (padding.past("Add ")) {
    const std::optional<std::int64_t> count = padding.integer();
    if (count && padding.accept(" padding layers")) log.padding_layers = logged(line, *count);
  }
}

}  // namespace

void read_settings_line(const LogLine& line, BootLog& log) {
  Scan engine(line.text);
  if (engine.past("LLM engine (v")) {
    if (!log.version) log.version = logged(line, std::string(engine.until(")")));
    read_configuration(line, log);
  }
  Scan arguments(line.text);
  if (arguments.past("non-default args:")) {
    read_configuration(line, log);
    if (!log.arguments) log.arguments = logged(line, std::string(arguments.rest()));
  } else if (line.text.find("args: Namespace(") != std::string_view::npos) {  // up to 0.8: every argument
    read_configuration(line, log);
  }
  Scan version(line.text);
  if (!log.version && (version.past("vLLM API server version ") || version.past("vLLM server version "))) {
    log.version = logged(line, std::string(version.until(" ,)")));
  }
  if (const std::optional<std::int64_t> length = integer_after(line.text, "Using max model len ");
      length && *length > 0 && !log.max_model_len) {
    log.max_model_len = logged(line, *length);
  }
  LoggedList<std::int64_t> batch;
  note_count_after(line, "Chunked prefill is enabled with max_num_batched_tokens=", Sign::positive, batch, log);
  if (!batch.empty()) log.max_num_batched_tokens = batch.front();
  if (line.text.find("Using V2 Model Runner") != std::string_view::npos) log.v2_runner = logged(line, true);
  read_cache_choices(line, log);
}

}  // namespace kvfit::runtime
