#include "cli/question_builder.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "cli/model_source.h"
#include "cli/plan_defaults.h"
#include "cli/question_checks.h"
#include "cli/serving_flags.h"
#include "hardware/gate_rules.h"
#include "hardware/gpu_catalog.h"
#include "planner/online_quantization.h"
#include "planner/rules.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "runtime/detect.h"

namespace kvfit::cli {
namespace {

using planner::Question;
using profiles::Catalog;
using profiles::fail_input;
using profiles::format;

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

hardware::Gpu open_gpu(const std::string& text, const Catalog& catalog, std::vector<Input>& inputs) {
  if (text == "-" || is_file(text)) {
    hardware::Gpu gpu = hardware::read_gpu(profiles::parse_yaml(read_text(text), text == "-" ? "<stdin>" : text));
    inputs.push_back({"hardware", gpu.id, text});
    return gpu;
  }
  const profiles::ProfileFile& file = catalog.resolve("hardware", text);
  inputs.push_back({"hardware", file.id, file.origin});
  return hardware::load_gpu(catalog, text);
}

hardware::Link link_from(const Asked& asked, const hardware::Node& node) {
  const std::string& word = asked.link;
  if (word == "none") return hardware::Link::none;
  if (word == "pcie") return hardware::Link::pcie;
  if (word == "nvlink") return hardware::Link::nvlink;
  if (word == "network") return hardware::Link::network;
  if (node.count == 1) return hardware::Link::none;
  return node.gpu.nvlink.value > 0 ? hardware::Link::nvlink : hardware::Link::pcie;
}

// The GPUs of the machine and how the model is spread over them must agree: --gpus alone means tensor parallelism.
void spread(const Asked& asked, BuiltQuestion& out) {
  planner::Serving& serving = out.question.serving;
  const std::optional<std::int64_t> gpus = asked.gpus;
  const bool stated = asked.spread_stated;
  if (gpus && !stated && *gpus > 1) {
    serving.tensor_parallel_size = *gpus;
    out.defaults.push_back(format("{} GPUs and no --tp, --pp or --dp: tensor parallel size {}", *gpus, *gpus));
  }
  const std::int64_t used = serving.tensor_parallel_size * serving.pipeline_parallel_size * serving.data_parallel_size;
  if (gpus && used > *gpus) {
    fail_input(format("tp {} x pp {} x dp {} needs {} GPUs, --gpus says {}", serving.tensor_parallel_size,
                      serving.pipeline_parallel_size, serving.data_parallel_size, used, *gpus),
               {}, "raise --gpus or lower one of them");
  }
  if (gpus && used < *gpus) {
    out.defaults.push_back(format("{} of {} GPUs are used (tp x pp x dp)", used, *gpus));
  }
  out.question.node.count = static_cast<int>(used);
}

void this_machine(const Asked& asked, const ThisGpu& gpu, BuiltQuestion& out) {
  hardware::Node& node = out.question.node;
  node.gpu = *gpu.match.gpu;
  out.inputs.push_back({"hardware", node.gpu.id, gpu.detection.source});
  if (asked.system.empty() && gpu.detection.system) node.system = *gpu.detection.system;
  runtime::use_total(node, gpu.found);
  out.defaults.push_back(format("GPU {} is the one that {} found: {}", node.gpu.id, gpu.detection.source, gpu.found.name));
  if (!gpu.match.remark.empty()) out.defaults.push_back(gpu.match.remark);
}

void machine(const Asked& asked, const Catalog& catalog, BuiltQuestion& out) {
  const std::optional<std::string>& name = asked.gpu;
  if (!name) fail_input("which GPU? --gpu is missing", {}, "kvfit gpus lists them; see kvfit plan --help");
  hardware::Node& node = out.question.node;
  if (asked.system == "wsl2") node.system = hardware::System::wsl2;
  if (asked.args != nullptr && names_this_gpu(*name)) {
    this_machine(asked, asked.this_gpu ? *asked.this_gpu : find_this_gpu(*asked.args, catalog, *name), out);
  } else {
    node.gpu = open_gpu(*name, catalog, out.inputs);
  }
  node.used_elsewhere = asked.used_elsewhere;
  spread(asked, out);
  node.link = link_from(asked, node);
}

void engine(const Asked& asked, const Catalog& catalog, const PlanDefaults& defaults, BuiltQuestion& out) {
  out.engine_version = asked.engine_version.value_or(defaults.engine_version);
  const profiles::ProfileFile& file = catalog.resolve("engines", asked.engine.value_or(defaults.engine));
  out.engine = file.id;
  out.inputs.push_back({"engines", file.id, file.origin});
  const planner::Version version = planner::parse_version(out.engine_version);
  if (!version.known) {
    fail_input(format("cannot read the version '{}'", out.engine_version), {}, "write it as the engine prints it: 0.24.0");
  }
  out.question.rules = std::make_shared<const planner::Rules>(catalog.load(file), version);
  out.question.gates =
      std::make_shared<const hardware::GateRules>(hardware::load_gate_rules(catalog, out.engine, out.engine_version));
  if (out.question.rules->beyond_newest()) {
    out.defaults.push_back(
        format("{} {} is newer than the builds kvfit's rules were read from", out.engine, out.engine_version));
  }
  if (!asked.engine_version) out.defaults.push_back(format("{} {} is kvfit's default", out.engine, out.engine_version));
}

// kvfit's own defaults stand in only where the user said nothing.
void own_defaults(const Asked& asked, const PlanDefaults& defaults, BuiltQuestion& out) {
  planner::Serving& serving = out.question.serving;
  if (!serving.gpu_memory_utilization && !serving.kv_cache_memory_bytes) {
    const std::optional<hardware::Fact<hardware::RatioRange>>& safe = out.question.node.gpu.utilisation;
    const bool shared = safe && safe->value.likely < defaults.gpu_memory_utilization;
    serving.gpu_memory_utilization = shared ? safe->value.likely : defaults.gpu_memory_utilization;
    out.defaults.push_back(format("utilisation {} is kvfit's default{}, not the engine's", *serving.gpu_memory_utilization,
                                  shared ? " where CPU and GPU share their memory" : ""));
  }
  if (asked.model) return;
  std::string chosen = format("model {}", defaults.model);
  if (!asked.kv_cache_stated) {
    serving.kv_cache_dtype = defaults.kv_cache_dtype;
    chosen += format(", {} KV cache", defaults.kv_cache_dtype);
  }
  if (!serving.max_num_seqs) {
    serving.max_num_seqs = defaults.max_num_seqs;
    out.question.search.sequences = false;
    chosen += format(", {} sequences", defaults.max_num_seqs);
  }
  if (!serving.language_model_only) {
    serving.language_model_only = !defaults.vision;
    chosen += defaults.vision ? ", vision on" : ", vision off";
  }
  out.defaults.push_back(chosen + ": kvfit's defaults");
}

void model(const Asked& asked, const Catalog& catalog, const Environment& environment, const PlanDefaults& defaults,
           BuiltQuestion& out) {
  const std::string name = asked.model.value_or(defaults.model);
  ModelSource source = open_model(name, catalog, environment);
  out.question.model = std::move(source.model);
  const std::int64_t kept = out.question.search.experts_fixed;
  if (kept > 0) (void)models::with_experts(out.question.model, kept);  // says which hard rule a count breaks
  out.question.inventory = std::move(source.inventory);
  out.model_id = source.catalogue_id;
  out.model_directory = source.directory;
  for (Input& input : source.inputs) out.inputs.push_back(std::move(input));
  for (std::string& remark : source.remarks) out.defaults.push_back(std::move(remark));
}

void draft(const std::string& name, const Catalog& catalog, const Environment& environment, BuiltQuestion& out) {
  std::optional<planner::Speculative>& speculative = out.question.serving.speculative;
  if (!speculative) return;
  if (!can_open_model(name, catalog, environment)) {
    out.defaults.push_back(format("drafter {}: neither in the catalogue nor in the local cache", name));
    return;  // the plan says what is missing
  }
  ModelSource source = open_model(name, catalog, environment);
  speculative->draft = std::make_shared<const models::Model>(std::move(source.model));
  speculative->draft_inventory = std::move(source.inventory);
  for (Input& input : source.inputs) out.inputs.push_back(std::move(input));
}

// A length beyond the configuration, where the engine was told to take it.
void lengthen(const Asked& asked, BuiltQuestion& out) {
  const std::int64_t length = out.question.serving.max_model_len.value_or(0);
  if (asked.long_context && length > out.question.model.max_position) out.question.model.max_position = length;
}

}  // namespace

Asked asked_from(const Args& args) {
  Asked out;
  out.args = &args;
  out.serving = serving_from(args, out.draft_model);
  out.search = search_from(args);
  out.confidence = confidence_from(args);
  out.allow_fallback = args.toggle("allow-fallback").value_or(false);
  out.gpu = args.text("gpu");
  out.model = args.text("model");
  out.engine = args.text("engine");
  out.engine_version = args.text("engine-version");
  out.gpus = args.integer("gpus");
  out.system = args.text("system").value_or("");
  out.link = args.text("link").value_or("");
  out.used_elsewhere = args.size("used-elsewhere").value_or(profiles::Bytes(0));
  out.spread_stated = args.has("tp") || args.has("pp") || args.has("dp");
  out.kv_cache_stated = args.has("kv-cache-dtype");
  return out;
}

BuiltQuestion build_question(const Asked& asked, const Catalog& catalog, const Environment& environment,
                             bool engine_defaults) {
  BuiltQuestion out;
  out.question.serving = asked.serving;
  out.question.search = asked.search;
  out.question.confidence = asked.confidence;
  out.question.allow_fallback = asked.allow_fallback;
  const PlanDefaults defaults = plan_defaults(catalog);
  machine(asked, catalog, out);
  model(asked, catalog, environment, defaults, out);
  lengthen(asked, out);
  engine(asked, catalog, defaults, out);
  planner::quantise_while_loading(out.question);
  if (!engine_defaults) own_defaults(asked, defaults, out);
  if (asked.draft_model) draft(*asked.draft_model, catalog, environment, out);
  if (asked.missing_draft && !asked.draft_model) {
    out.missing_draft = missing_draft(out.question);
    if (!out.missing_draft.empty()) out.question.serving.speculative.reset();
  }
  check_question(out.question, asked.draft_model.has_value());
  return out;
}

BuiltQuestion build_question(const Args& args, const Catalog& catalog, const Environment& environment, const Hints& hints) {
  Asked asked = asked_from(args);
  if (!asked.gpu) asked.gpu = hints.gpu;
  if (!asked.model) asked.model = hints.model;
  if (!asked.engine_version) asked.engine_version = hints.engine_version;
  return build_question(asked, catalog, environment, hints.engine_defaults);
}

}  // namespace kvfit::cli
