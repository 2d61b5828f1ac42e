#include "tests/accuracy/rows.h"

#include "profiles/document.h"
#include "profiles/text.h"
#include "tests/accuracy/json_fields.h"

namespace kvfit::accuracy {

using profiles::Json;

namespace {

/// Reads one line; throws std::exception with the reason.
Observation read_row(const Json& row) {
  if (row.contains("available_kv_gib_printed") || (row.contains("layers") && row.contains("expect")))
    return read_layout(row);
  if (row.contains("outcome") || row.contains("kv_dtype") || row.contains("ctx")) return read_bench(row);
  const std::string engine = text_of(row, "engine").value_or("vllm");
  return engine.starts_with("vllm") ? read_boot(row) : read_engine(row);
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
      rows.observations.push_back(std::move(observation));
    } catch (const std::exception& error) {
      rows.rejected.push_back({text_of(row, "id").value_or(place), profiles::format("could not be read: {}", error.what())});
    }
  }
}

void read_rows(const std::string& path, Rows& rows) { read_rows_text(profiles::read_text_file(path), path, rows); }

}  // namespace kvfit::accuracy
