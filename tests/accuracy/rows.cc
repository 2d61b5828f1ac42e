#include "tests/accuracy/rows.h"

#include "profiles/document.h"
#include "profiles/text.h"
#include "tests/accuracy/json_fields.h"
#include "tests/accuracy/spelling.h"

namespace kvfit::accuracy {

using profiles::Json;

namespace {

/// Reads one line; throws std::exception with the reason.
Observation read_row(const Json& row) {
  if (row.contains("available_kv_gib_printed") || (row.contains("layers") && row.contains("expect")))
    return read_layout(row);
  if (row.contains("outcome") || row.contains("kv_dtype") || row.contains("ctx")) return read_bench(row);
  const std::string engine = lower(text_of(row, "engine").value_or("vllm"));
  return engine.starts_with("vllm") ? read_boot(row) : read_engine(row);
}

void keep_within(Count& count, std::int64_t low, std::int64_t high) {
  if (count && (*count < low || *count > high)) count.reset();
}

void keep_within(std::optional<double>& value, double low, double high) {
  if (value && !(*value > low && *value <= high)) value.reset();
}

/// Values no machine or engine takes are slips of the pen: as good as unstated.
void drop_absurd(Observation& row) {
  for (Count* ranks : {&row.tp, &row.pp, &row.dp, &row.dcp, &row.gpu_count}) keep_within(*ranks, 1, 4096);
  Arguments& args = row.arguments;
  keep_within(args.max_model_len, 1, std::int64_t{1} << 36);
  keep_within(args.max_num_seqs, 1, 1'000'000);
  keep_within(args.max_num_batched_tokens, 1, std::int64_t{1} << 30);
  keep_within(args.block_size, 1, 1 << 16);
  keep_within(args.max_cudagraph_capture_size, 0, 1 << 20);
  keep_within(args.kv_cache_memory_bytes, 1, std::int64_t{1} << 50);
  keep_within(args.num_gpu_blocks_override, 1, std::int64_t{1} << 40);
  keep_within(args.max_loras, 1, 1024);
  keep_within(args.max_lora_rank, 1, 1024);
  keep_within(args.num_redundant_experts, 0, 65536);
  keep_within(args.gpu_memory_utilization, 0, 1);
  keep_within(args.cpu_offload_gb, 0, 1e5);
  std::erase_if(args.cudagraph_capture_sizes, [](std::int64_t size) { return size < 1 || size > (1 << 20); });
  if (args.speculative) keep_within(args.speculative->tokens, 1, 64);
  keep_within(row.total_gib, 0, 1e4);
  keep_within(row.nvml_mib, 0, 1e7);
  Measured& m = row.measured;
  for (Count* count : {&m.kv_tokens, &m.num_gpu_blocks, &m.mamba_blocks, &m.attention_block, &m.estimated_max_len}) {
    keep_within(*count, 0, std::int64_t{1} << 46);
  }
  keep_within(m.at_len, 1, std::int64_t{1} << 36);
  for (Size* size : {&m.weights, &m.available_kv, &m.graphs, &m.graphs_estimated, &m.activation, &m.non_torch, &m.consumed,
                     &m.needed_kv, &m.free_at_start, &m.requested}) {
    if (*size && !((*size)->value > -1e4 && (*size)->value < 1e5)) size->reset();
  }
}

}  // namespace

std::string outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::good:
      return "good";
    case Outcome::free_memory:
      return "free_mem";
    case Outcome::no_blocks:
      return "no_blocks";
    case Outcome::kv_too_small:
      return "kv_too_small";
    case Outcome::mamba_blocks:
      return "mamba_blocks";
    case Outcome::oom:
      return "oom";
    case Outcome::kernel:
      return "kernel";
    case Outcome::aside:
      return "aside";
    case Outcome::unstated:
      return "unstated";
  }
  return "unstated";
}

void read_rows_text(std::string_view text, const std::string& file, Rows& rows) {
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string place = profiles::format("{}:{}", file, number);
    const Json row = Json::parse(line, nullptr, false);
    if (row.is_discarded() || !row.is_object()) {
      rows.rejected.push_back({place, "not a JSON object"});
      continue;
    }
    try {
      Observation observation = read_row(row);
      observation.id = text_of(row, "id").value_or(place);
      observation.source = text_of(row, "source").value_or(text_of(row, "source_path").value_or(""));
      observation.from_sweep = observation.id.starts_with("planner-");
      observation.file = file;
      observation.line = number;
      drop_absurd(observation);
      rows.observations.push_back(std::move(observation));
    } catch (const std::exception& error) {
      rows.rejected.push_back({text_of(row, "id").value_or(place), profiles::format("could not be read: {}", error.what())});
    }
  }
}

void read_rows(const std::string& path, Rows& rows) { read_rows_text(profiles::read_text_file(path), path, rows); }

}  // namespace kvfit::accuracy
