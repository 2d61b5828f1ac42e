// What an engine's log says of memory: vLLM of every era (0.6 to 0.31-dev), and the lines of SGLang and llama.cpp that state
// the same facts. Each fact keeps its line, so that a comparison can name where it stands.
//
// A figure that is no figure (nan, a size without a unit, less than nothing) is not taken and said in `unusable`.
//
// Source: the log calls in vllm/v1/worker/gpu_worker.py, v1/core/kv_cache_utils.py, v1/engine/core.py and their
// predecessors. Printed GiB are kept as printed: two decimals mean half a hundredth of uncertainty, which `half_step`
// states.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvfit::runtime {

template <typename T>
struct Logged {
  T value{};
  int line = 0;        ///< from 1
  std::string writer;  ///< process that printed it, "" when the line does not say
};
template <typename T>
using LoggedList = std::vector<Logged<T>>;

/// How a boot ended, by the engine's own words.
enum class BootEnd { unknown, ready, free_memory, no_blocks, kv_too_small, mamba_blocks, align_block, oom, length, other };
std::string_view boot_end_name(BootEnd end);

struct BootLog {
  std::string engine = "vllm";
  std::optional<Logged<std::string>> version, model, dtype, quantization, kv_cache_dtype, attention_backend, kv_format,
      mamba_mode;
  std::optional<Logged<std::int64_t>> tensor_parallel_size, pipeline_parallel_size, data_parallel_size;
  std::optional<Logged<std::int64_t>> max_model_len, max_num_batched_tokens, max_num_seqs, attention_block_size,
      padding_layers;
  std::optional<Logged<double>> mamba_padding_percent, utilization;
  std::optional<Logged<bool>> v2_runner, prefix_caching, eager;
  std::optional<Logged<std::string>> speculative, draft_model;  ///< method; repository or path of a separate drafter
  std::optional<Logged<std::int64_t>> speculative_tokens;
  std::optional<Logged<std::string>> arguments;  ///< "non-default args": Python's text of a dictionary

  // GiB, one entry a line that states it
  LoggedList<double> weights, available_kv, total, free_at_start, requested, activation, non_torch, consumed;
  LoggedList<double> graphs, graphs_estimated;
  LoggedList<double> reserved_kv;  ///< --kv-cache-memory-bytes: nothing was profiled
  bool merged_breakdown = false;   ///< from v0.26: `activation` holds the graph estimate too

  LoggedList<std::int64_t> kv_tokens, num_gpu_blocks, blocks_override;
  std::optional<Logged<double>> concurrency;
  std::optional<Logged<std::int64_t>> concurrency_length;
  std::optional<Logged<std::int64_t>> auto_length;  ///< "Auto-fit max_model_len: reduced ... to"

  BootEnd end = BootEnd::unknown;
  std::optional<Logged<std::string>> error;               ///< the engine's sentence
  std::optional<Logged<double>> needed_kv, refused_with;  ///< GiB of the one-request check
  std::optional<Logged<std::int64_t>> refused_length, estimated_max_len, mamba_blocks;
  std::optional<Logged<double>> oom_tried_gib, oom_free_gib;

  LoggedList<std::string> unusable;         ///< lines that state a figure which cannot be one: why
  std::vector<std::string> engine_writers;  ///< who printed "Initializing ... engine": several with data parallelism
  int first_line = 1;                       ///< of the file this boot begins
  int lines = 0;                            ///< number of the last line read
};

/// One more line of a log that is still being written.
void read_boot_line(std::string_view line, BootLog& log);

/// All of the text as one boot. Never throws on content: what is not understood is passed over. Lines longer than 64 KiB are
/// cut.
BootLog read_boot_log(std::string_view text);

/// The same, split where the engine starts anew (a container that restarts keeps one log); never empty.
std::vector<BootLog> read_boot_logs(std::string_view text);

/// Whether a log holds any figure that a plan can be compared with.
bool states_memory(const BootLog& log);

/// The smallest of a list, which is what the engine acts on; nullopt when empty.
std::optional<Logged<double>> smallest(const LoggedList<double>& list);

}  // namespace kvfit::runtime
