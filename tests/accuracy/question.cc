#include "tests/accuracy/question.h"

#include <algorithm>
#include <cmath>

#include "profiles/error.h"
#include "profiles/text.h"
#include "tests/accuracy/recipe.h"
#include "tests/accuracy/spelling.h"

namespace kvfit::accuracy {

using planner::Question;
using planner::Serving;
using profiles::format;

namespace {

constexpr const char* kFirstEngine = "0.7.3";

/// Utilisation as given, else as the log's "desired" bytes give it.
std::optional<double> utilization_of(const Observation& row) {
  if (row.arguments.gpu_memory_utilization) return row.arguments.gpu_memory_utilization;
  if (!row.measured.requested || !row.total_gib || *row.total_gib <= 0) return std::nullopt;
  return std::round(1000 * row.measured.requested->value / *row.total_gib) / 1000;
}

Serving serving_of(const Observation& row) {
  const Arguments& args = row.arguments;
  Serving out;
  out.max_model_len = args.max_model_len ? args.max_model_len : row.measured.at_len;
  out.max_num_seqs = args.max_num_seqs;
  out.max_num_batched_tokens = args.max_num_batched_tokens;
  out.gpu_memory_utilization = utilization_of(row);
  if (args.kv_cache_memory_bytes) out.kv_cache_memory_bytes = profiles::Bytes(*args.kv_cache_memory_bytes);
  out.kv_cache_dtype = args.kv_cache_dtype.value_or("auto");
  out.block_size = args.block_size;
  out.enable_prefix_caching = args.enable_prefix_caching;
  out.async_scheduling = args.async_scheduling;
  out.enforce_eager = args.enforce_eager;
  out.max_cudagraph_capture_size = args.max_cudagraph_capture_size;
  out.cudagraph_capture_sizes = args.cudagraph_capture_sizes;
  out.mamba_cache_mode = args.mamba_cache_mode.value_or("");
  out.mamba_ssm_cache_dtype = args.mamba_ssm_cache_dtype.value_or("auto");
  out.attention_backend = args.attention_backend.value_or("");
  out.moe_backend = args.moe_backend.value_or("");
  out.dtype = args.dtype.value_or("auto");
  out.tensor_parallel_size = row.tp.value_or(1);
  out.pipeline_parallel_size = row.pp.value_or(1);
  out.data_parallel_size = row.dp.value_or(1);
  out.decode_context_parallel_size = row.dcp.value_or(1);
  out.enable_expert_parallel = args.enable_expert_parallel;
  out.language_model_only = args.language_model_only;
  out.enable_lora = args.enable_lora.value_or(false);
  out.max_loras = args.max_loras.value_or(out.max_loras);
  out.max_lora_rank = args.max_lora_rank.value_or(out.max_lora_rank);
  out.num_gpu_blocks_override = args.num_gpu_blocks_override;
  out.num_redundant_experts = args.num_redundant_experts.value_or(0);
  out.enable_eplb = args.enable_eplb;
  out.enable_sleep_mode = args.enable_sleep_mode;
  out.skip_mm_profiling = args.skip_mm_profiling;
  out.disable_hybrid_kv_cache_manager = args.disable_hybrid_kv_cache_manager;
  out.cpu_offload_gb = args.cpu_offload_gb.value_or(0);
  if (args.speculative) {
    planner::Speculative speculative;
    speculative.method = args.speculative->method;
    speculative.tokens = static_cast<int>(std::clamp<std::int64_t>(args.speculative->tokens.value_or(1), 0, 64));
    out.speculative = speculative;
  }
  return out;
}

/// Memory free at the start is the log's: what is gone before the engine is then one known amount.
void set_free_at_start(const Observation& row, hardware::Node& node) {
  if (!row.measured.free_at_start) return;
  const profiles::Bytes total = hardware::total_memory(node).likely;
  const profiles::Bytes used = total - profiles::from_gib(row.measured.free_at_start->value);
  const hardware::ByteRange none{};
  node.used_elsewhere = node.gpu.unified ? profiles::Bytes(0) : used;
  node.gpu.context.value = none;
  node.gpu.idle.value = node.gpu.unified ? hardware::ByteRange{used, used, used} : none;
  node.measured_from = "the row";
}

/// Until 0.21 the tokens were blocks times block size, whatever a request of a hybrid or of windows needs; since then they
/// are concurrency times length. 0: the print fits both.
int capacity_era(const Measured& m) {
  if (!m.kv_tokens || !m.concurrency || !m.at_len || m.concurrency->value <= 0) return 0;
  const double requests = static_cast<double>(*m.kv_tokens) / static_cast<double>(*m.at_len);
  const double off = std::abs(requests - m.concurrency->value);
  return off > 0.05 * m.concurrency->value + 2 * m.concurrency->half_step ? -1 : 0;
}

/// What the print rules out moves a guessed release to the last one that it allows; a stated one stays.
std::string within_form(const Observation& row, std::string release) {
  constexpr const char* kLastOfBlocks = "0.20.0";
  const bool late =
      !release.empty() && planner::compare(planner::parse_version(release), planner::parse_version("0.21.0")) >= 0;
  return capacity_era(row.measured) < 0 && late ? kLastOfBlocks : release;
}

/// The first engine's profile line gives non-torch memory, without what was free at the start.
bool first_engine_line(const Observation& row) {
  const Measured& m = row.measured;
  return m.non_torch && !m.free_at_start && !m.consumed && !m.graphs_estimated;
}

/// The first engine stayed beside the new one up to 0.10, with its own number of sequences whatever the card.
void set_first_engine(const Observation& row, const std::string& version, Serving& serving) {
  const planner::Version stated = planner::parse_version(version);
  const bool both = planner::compare(stated, planner::parse_version("0.8.0")) >= 0 &&
                    planner::compare(stated, planner::parse_version("0.10.2")) < 0;
  if (both && first_engine_line(row) && !serving.max_num_seqs) serving.max_num_seqs = 256;
}

std::string release_of(const Observation& row, Case& out) {
  const VersionText read = read_version(row.engine_version.value_or(""));
  if (read.release) {
    if (read.basis == VersionText::Basis::exact) return *read.release;
    const std::string release = within_form(row, *read.release);
    out.assumed.push_back("version " + release);
    return release;
  }
  const std::string release = within_form(row, version_by_form(row));
  out.assumed.push_back(release.empty() ? "newest version" : "version " + release + " by the form of the log");
  return release;
}

/// The very checkpoint, else of one architecture's checkpoints the one that stores the formats named.
std::optional<Match> closest(const Library& library, const std::string& text, const std::string& quant) {
  const std::vector<Match> found = find_models(library.models(), text, quant);
  if (found.empty() || found.front().exact) return found.empty() ? std::nullopt : std::optional<Match>(found.front());
  const Match* best = nullptr;
  double best_agreement = -1;
  for (const Match& match : found) {
    const double agreement = format_agreement(library.model(match.id), text, quant);
    if (agreement <= best_agreement) continue;
    best = &match;
    best_agreement = agreement;
  }
  return *best;
}

/// What another export of the architecture quantises, in the format named.
std::optional<models::Quantization> other_format(const Library& library, const std::string& text, const std::string& quant) {
  for (const Match& match : find_models(library.models(), text, quant)) {
    std::optional<models::Quantization> found = reformatted(library.model(match.id).quantization, text, quant);
    if (found) return found;
  }
  return std::nullopt;
}

/// Same layers, widths and vocabulary: a recipe of one is a recipe of the other.
bool same_structure(const models::Model& a, const models::Model& b) {
  if (a.hidden != b.hidden || a.vocab != b.vocab || a.layers.size() != b.layers.size()) return false;
  if (models::expert_count(a) != models::expert_count(b)) return false;
  const auto intermediate = [](const models::Model& model) {
    return model.layers.empty() || !model.layers.front().dense ? 0 : model.layers.front().dense->intermediate;
  };
  return intermediate(a) == intermediate(b);
}

/// A checkpoint of another release with the same structure that stores the formats named: its exemptions are a better guess
/// than a rule of thumb.
std::optional<models::Quantization> sibling_recipe(const Library& library, const models::Model& model,
                                                   const std::string& text, const std::string& quant) {
  const ModelText asked = read_model_text(text);
  std::optional<models::Quantization> best;
  double best_agreement = 0.5;
  for (const NamedEntry& entry : library.models()) {
    const auto like = [&asked](const std::string& name) {
      const ModelText have = read_model_text(name);
      const bool family =
          !have.essential.empty() && !asked.essential.empty() && have.essential.front() == asked.essential.front();
      return family && !have.formats.empty() && have.essential.size() == asked.essential.size();
    };
    if (std::none_of(entry.names.begin(), entry.names.end(), like)) continue;
    const models::Model& other = library.model(entry.id);
    if (!same_structure(model, other)) continue;
    double agreement = format_agreement(other, text, quant);
    if (contains(lower(text + quant), lower(other.quantization.method.substr(0, 8)))) agreement += 0.2;
    if (agreement <= best_agreement) continue;
    best = other.quantization;
    best_agreement = agreement;
  }
  return best;
}

void set_model(const Library& library, const Observation& row, Case& out) {
  if (!row.model) profiles::fail_input("model not stated");
  const std::string quant = row.quant.value_or("");
  const std::optional<Match> match = closest(library, *row.model, quant);
  if (!match) profiles::fail_input("model not in the catalogue: " + *row.model);
  models::Model model = library.model(match->id);
  const Recipe recipe = recipe_of(model, match->exact, *row.model, quant);
  const bool laid_over = recipe.priced && !(recipe.quantization.base == model.quantization.base);
  model.quantization = recipe.quantization;
  if (!recipe.known && laid_over) {
    if (const std::optional<models::Quantization> found = sibling_recipe(library, model, *row.model, quant)) {
      model.quantization = *found;
      out.assumed.push_back("stored like a checkpoint of the same structure");
    } else if (std::optional<models::Quantization> other = other_format(library, *row.model, quant)) {
      model.quantization = std::move(*other);
      out.assumed.push_back("the same layers quantised as in another format");
    }
  }
  out.exact_checkpoint = match->exact;
  out.recipe_known = recipe.known;
  out.weights_priced = recipe.priced;
  out.format_stated = recipe.stated;
  if (!match->exact) out.assumed.push_back("priced as " + match->id);
  const ModelText text = read_model_text(*row.model);
  if (text.experts && models::expert_count(model) > *text.experts) model = models::with_experts(model, *text.experts);
  out.question.model = std::move(model);
}

}  // namespace

bool first_engine(const std::string& version) {
  return !version.empty() && planner::compare(planner::parse_version(version), planner::parse_version("0.8.0")) < 0;
}

std::string version_by_form(const Observation& row) {
  const Measured& m = row.measured;
  if (first_engine_line(row)) return kFirstEngine;
  if (m.consumed) return "0.28.0";          // weights and non-torch merged: since 0.26
  if (m.graphs_estimated) return "0.22.0";  // the estimate is printed since 0.18, subtracted since 0.21
  if (m.weights && m.weights->half_step < 0.0005) return "0.10.2";  // four decimals: up to 0.13
  return capacity_era(m) < 0 ? "0.20.0" : "";
}

Case case_of(const Library& library, const Observation& row, const std::optional<Machine>& machine) {
  Case out;
  set_model(library, row, out);
  if (machine) {
    out.question.node = machine->node;
    out.machine_known = true;
    out.total_printed = machine->total_printed;
    out.assumed.insert(out.assumed.end(), machine->assumed.begin(), machine->assumed.end());
    set_platform(row, out.question.node.gpu);
    set_free_at_start(row, out.question.node);
  } else {
    out.question.node.gpu = library.cards().gpus.front();
    out.question.node.count = static_cast<int>(std::clamp<std::int64_t>(row.tp.value_or(1) * row.pp.value_or(1), 1, 4096));
    set_platform(row, out.question.node.gpu);
    out.assumed.push_back("machine not stated");
  }
  out.version = release_of(row, out);
  out.question.rules = library.rules(out.version);
  if (out.version.empty()) out.other_rules = library.rules("0.20.0");
  out.question.serving = serving_of(row);
  if (!out.version.empty()) set_first_engine(row, out.version, out.question.serving);
  out.question.allow_fallback = true;  // a boot that was recorded ran, whatever the policy says
  out.statement = statement_of(row, out.question.model, machine && machine->node.gpu.unified);
  if (row.arguments.speculative && row.arguments.speculative->method == "mtp" && !out.question.model.draft)
    out.statement.drafter = false;
  return out;
}

namespace {

std::vector<Choice> version_choices(const Library& library, const Observation& row, const Case& stated) {
  std::vector<Choice> out;
  if (stated.statement.version) return out;
  for (const char* release : {"0.29.0", "0.27.0", "0.25.0", "0.24.0", "0.22.0", "0.20.0", "0.19.0", "0.17.0", "0.14.0",
                              "0.12.0", "0.11.0", "0.10.2", "0.9.2", "0.8.5"}) {
    out.push_back({format("version = {}", release), [&library, release](Question& q) { q.rules = library.rules(release); }});
  }
  const bool dated = row.engine_version && read_version(*row.engine_version).release;
  if (!dated) return out;
  // A date or a range leaves only the neighbours open.
  out.clear();
  const planner::Version about = planner::parse_version(stated.version);
  for (const int step : {-1, 1, -2}) {
    const std::string near = format("0.{}.0", about.minor + step);
    out.push_back({"version = " + near, [&library, near](Question& q) { q.rules = library.rules(near); }});
  }
  return out;
}

std::vector<Choice> count_choices(const char* name, std::initializer_list<std::int64_t> values,
                                  const std::function<void(Question&, std::int64_t)>& apply) {
  std::vector<Choice> out;
  for (const std::int64_t value : values) {
    out.push_back({format("{} = {}", name, value), [apply, value](Question& q) { apply(q, value); }});
  }
  return out;
}

/// The engine's types, the commonest first.
std::vector<Choice> cache_choices() {
  std::vector<Choice> out;
  for (const char* type : {"fp8", "bfloat16", "turboquant_3bit_nc", "int8_per_token_head", "nvfp4"}) {
    out.push_back({format("KV dtype = {}", type), [type](Question& q) { q.serving.kv_cache_dtype = type; }});
  }
  return out;
}

void set_drafted(Question& q, std::int64_t tokens) {
  if (!q.serving.speculative) q.serving.speculative = planner::Speculative{"mtp", 0, nullptr, nullptr};
  q.serving.speculative->tokens = static_cast<int>(tokens);
}

}  // namespace

std::vector<std::vector<Choice>> open_choices(const Library& library, const Observation& row, const Case& stated) {
  std::vector<std::vector<Choice>> out;
  const Arguments& args = row.arguments;
  if (!args.kv_cache_dtype) out.push_back(cache_choices());
  if (!row.tp && !row.gpu_count) {
    out.push_back(count_choices("tensor parallel", {2, 4, 8}, [](Question& q, std::int64_t n) {
      q.serving.tensor_parallel_size = n;
      q.node.count = std::max(q.node.count, static_cast<int>(n * q.serving.pipeline_parallel_size));
    }));
  }
  if (keeps_states(stated.question.model) && !args.enable_prefix_caching && !args.mamba_cache_mode) {
    out.push_back({{"prefix caching = on", [](Question& q) { q.serving.enable_prefix_caching = true; }},
                   {"prefix caching = off", [](Question& q) { q.serving.enable_prefix_caching = false; }}});
  }
  if (has_windows(stated.question.model) && !args.max_num_batched_tokens) {
    out.push_back(count_choices("batched tokens", {2048, 8192, 4096, 16384, 1024, 32768},
                                [](Question& q, std::int64_t n) { q.serving.max_num_batched_tokens = n; }));
  }
  const bool counts_open = args.speculative ? !args.speculative->tokens.has_value() : keeps_states(stated.question.model);
  if (counts_open && stated.question.model.draft)
    out.push_back(count_choices("drafted tokens", {1, 2, 3, 4, 5}, set_drafted));
  std::vector<Choice> versions = version_choices(library, row, stated);
  if (!versions.empty()) out.push_back(std::move(versions));
  return out;
}

}  // namespace kvfit::accuracy
