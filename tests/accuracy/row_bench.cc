// A row of a recorded bench: {gpu, gpu_mem (MiB), tp, model, quant, kv_dtype, ctx, seqs, util, mtp, vision, engine, outcome,
// measured{}}.
#include <algorithm>
#include <cstdlib>

#include "tests/accuracy/json_fields.h"
#include "tests/accuracy/rows.h"
#include "tests/accuracy/spelling.h"

namespace kvfit::accuracy {

using profiles::Json;

namespace {

/// "ok", "ok-thin" ... are good starts; a pool smaller than one request is not what the engine would start with.
Outcome outcome_of(const std::string& text) {
  if (text == "ok-undersized") return Outcome::aside;
  if (text == "ok" || text.starts_with("ok-")) return Outcome::good;
  if (text == "boot-refused-kv") return Outcome::kv_too_small;
  if (text == "boot-refused-mamba-blocks") return Outcome::mamba_blocks;
  if (text == "boot-refused-mem") return Outcome::free_memory;
  if (text == "boot-refused-kernel") return Outcome::kernel;
  if (text == "oom-boot" || text == "oom-runtime") return Outcome::oom;
  return text.empty() ? Outcome::unstated : Outcome::aside;
}

/// Cards are "A" or "A + B"; memory is MiB, "a+b" for a mixed pair. The smaller card sizes the pool.
void read_cards(const Json& row, Observation& out) {
  out.gpu = text_of(row, "gpu");
  out.nvml_mib = number_of(row, "gpu_mem");
  const Text memory = text_of(row, "gpu_mem");
  if (!out.gpu || !memory) return;
  const std::size_t plus = memory->find('+');
  const std::size_t join = out.gpu->find(" + ");
  if (plus != std::string::npos && join != std::string::npos) {
    const double first = std::atof(memory->substr(0, plus).c_str());
    const double second = std::atof(memory->substr(plus + 1).c_str());
    out.nvml_mib = std::min(first, second);
    out.smallest_gpu = first <= second ? out.gpu->substr(0, join) : out.gpu->substr(join + 3);
  } else if (plus == std::string::npos && join != std::string::npos) {
    out.smallest_gpu = out.gpu->substr(0, join);
  }
}

}  // namespace

Observation read_bench(const Json& row) {
  Observation out;
  out.shape = "bench";
  const std::string engine = text_of(row, "engine").value_or("vllm");
  out.engine = read_engine_name(engine);
  const std::size_t space = engine.find(' ');
  if (space != std::string::npos) out.engine_version = engine.substr(space + 1);
  read_cards(row, out);
  out.tp = count_of(row, "tp");
  out.gpu_count = out.tp;
  out.pp = 1;
  out.model = text_of(row, "model");
  out.quant = text_of(row, "quant");
  out.vision = flag_of(row, "vision");
  Arguments& args = out.arguments;
  args.max_model_len = count_of(row, "ctx");
  args.max_num_seqs = count_of(row, "seqs");
  args.gpu_memory_utilization = number_of(row, "util");
  // Its tables have every column: an empty cell was not recorded, it is not the engine's default.
  if (!args.gpu_memory_utilization) args.unknown.push_back("gpu_memory_utilization");
  if (!args.max_num_seqs) args.unknown.push_back("max_num_seqs");
  if (out.vision) args.language_model_only = !*out.vision;
  if (const Text types = text_of(row, "kv_dtype")) {
    const CacheTypes read = read_cache_types(*types);
    args.kv_cache_dtype = read.kv;
    args.mamba_ssm_cache_dtype = read.state;
  }
  const std::size_t addition = out.quant ? out.quant->find(" + ") : std::string::npos;
  if (addition != std::string::npos) {
    args.speculative = read_speculation(out.quant->substr(addition + 3));
    out.quant = out.quant->substr(0, addition);
  }
  if (const Count draft = count_of(row, "mtp"); draft && *draft > 0) args.speculative = Speculation{"mtp", draft, true};
  const Json& measured = object_of(row, "measured");
  out.measured.weights = printed_of(measured, "weights_load_gib");
  out.measured.available_kv = printed_of(measured, "avail_kv_gib");
  out.measured.needed_kv = printed_of(measured, "need_kv_gib");
  out.measured.kv_tokens = count_of(measured, "kv_tokens");
  out.measured.concurrency = printed_of(measured, "max_concurrency");
  if (out.measured.concurrency) out.measured.at_len = args.max_model_len;
  out.measured.estimated_max_len = count_of(measured, "est_max_len");
  out.measured.attention_block = count_of(measured, "attn_block");
  out.measured.mamba_blocks = count_of(measured, "mamba_blocks");
  out.measured.graphs_estimated = printed_of(measured, "cudagraph_est_gib");
  out.measured.requested = printed_of(measured, "needed_gib");
  out.total_gib = number_of(measured, "visible_total_gib");
  out.total_printed = out.total_gib.has_value();
  if (const Json* free = member(measured, "free_at_boot_gib"); free != nullptr && free->is_array() && !free->empty()) {
    double least = free->front().is_number() ? free->front().get<double>() : 0;
    for (const Json& value : *free) {
      if (value.is_number()) least = std::min(least, value.get<double>());
    }
    if (least > 0) out.measured.free_at_start = Printed{least, 0.05};
  }
  out.outcome = outcome_of(text_of(row, "outcome").value_or(""));
  return out;
}

}  // namespace kvfit::accuracy
