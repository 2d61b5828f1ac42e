// A row that gives the cache layout: {layers[], groups, max_model_len, available_kv_gib_printed, expect{}}.
#include "tests/accuracy/json_fields.h"
#include "tests/accuracy/rows.h"

namespace kvfit::accuracy {

using profiles::Json;

namespace {

/// The version whose formulas apply, written as a decimal: 0.085 is 0.8.5, 0.102 is 0.10.2, 0.2 is 0.20.
std::string formula_version(const Json& row) {
  const Text text = text_of(row, "capacity_formula");
  const std::size_t point = text ? text->find('.') : std::string::npos;
  if (point == std::string::npos) return "";
  std::string digits = text->substr(point + 1);
  if (digits.size() == 1) digits += "0";
  const std::string minor = digits[0] == '0' ? digits.substr(1, 1) : digits.substr(0, 2);
  return "0." + minor + "." + (digits.size() > 2 ? digits.substr(2, 1) : "0");
}

}  // namespace

Observation read_layout(const Json& row) {
  Observation out;
  out.shape = "layout";
  out.engine = "vllm";
  out.engine_version = text_of(row, "vllm_version");
  out.model = text_of(row, "model");
  out.tp = count_of(row, "tp");
  out.pp = count_of(row, "pp");
  out.dcp = count_of(row, "dcp");
  out.arguments.max_model_len = count_of(row, "max_model_len");
  CacheLayout layout;
  layout.formulas = formula_version(row);
  layout.groups = count_of(row, "groups").value_or(0);
  layout.group_size = count_of(row, "group_size").value_or(0);
  layout.bytes_per_block = count_of(row, "bytes_per_block").value_or(0);
  layout.blocks_per_request = count_of(row, "blocks_per_request").value_or(0);
  layout.in_flight_tokens = count_of(row, "in_flight_tokens");
  layout.inferred = flag_of(row, "parameters_inferred").value_or(false);
  if (const Json* layers = member(row, "layers"); layers != nullptr && layers->is_array()) {
    for (const Json& entry : *layers) {
      CacheLayer layer;
      layer.kind = text_of(entry, "kind").value_or("");
      layer.layers = count_of(entry, "layers").value_or(0);
      layer.page_bytes = count_of(entry, "page_bytes").value_or(0);
      layer.bytes_per_token = count_of(entry, "bytes_per_token").value_or(0);
      layer.block_size = count_of(entry, "block_size").value_or(0);
      layer.window = count_of(entry, "window").value_or(0);
      layer.chunk = count_of(entry, "chunk").value_or(0);
      layer.speculative_blocks = count_of(entry, "num_spec_blocks").value_or(0);
      layer.mode = text_of(entry, "mode").value_or("none");
      layout.layers.push_back(layer);
    }
  }
  out.layout = layout;
  const Json& expect = object_of(row, "expect");
  out.measured.available_kv = printed_of(row, "available_kv_gib_printed");
  out.measured.kv_tokens = count_of(expect, "kv_tokens");
  out.measured.concurrency = printed_of(expect, "max_concurrency");
  out.measured.at_len = out.arguments.max_model_len;
  out.measured.num_gpu_blocks = count_of(expect, "num_gpu_blocks");
  out.measured.needed_kv = printed_of(expect, "needed_kv_gib");
  out.measured.estimated_max_len = count_of(expect, "est_max_len");
  out.outcome = Outcome::unstated;
  return out;
}

Observation read_engine(const Json& row) {
  Observation out;
  out.shape = "engine";
  out.engine = text_of(row, "engine").value_or("unknown");
  out.engine_version = text_of(row, "engine_version");
  out.gpu = text_of(row, "gpu");
  out.gpu_count = count_of(row, "gpu_count");
  out.model = text_of(row, "model");
  out.quant = text_of(row, "quant");
  return out;
}

}  // namespace kvfit::accuracy
