#include "cli/check_answer.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/check_rules.h"
#include "cli/findings.h"
#include "cli/make_report.h"
#include "cli/plan_defaults.h"
#include "cli/serving_flags.h"
#include "planner/search.h"
#include "profiles/error.h"
#include "profiles/spelling.h"
#include "profiles/text.h"
#include "runtime/deployment_serving.h"

namespace kvfit::cli {
namespace {

namespace fs = std::filesystem;
using profiles::format;
using profiles::lower;

// "NVIDIA-H100-80GB-HBM3" and "NVIDIA H100 80GB HBM3" are one label.
std::string label_key(std::string_view text) {
  std::string out = lower(text);
  std::replace(out.begin(), out.end(), '-', ' ');
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

std::string last_folder(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

bool is_path(const std::string& text) {
  return text.starts_with('/') || text.starts_with('.') || text.starts_with('~') || text.find("://") != std::string::npos;
}

// ".../models--ORG--NAME/snapshots/..." -> "ORG/NAME".
std::string cached_repository(const std::string& path) {
  const std::size_t at = path.find("models--");
  if (at == std::string::npos) return "";
  std::string name = path.substr(at + 8);
  name = name.substr(0, name.find('/'));
  const std::size_t dashes = name.find("--");
  return dashes == std::string::npos ? "" : name.substr(0, dashes) + "/" + name.substr(dashes + 2);
}

// "Qwen3.6-35B-A3B-NVFP4-192e", as kvfit names a carve: the parent's name and the count.
std::pair<std::string, std::int64_t> carve_name(const std::string& folder) {
  const std::size_t dash = folder.rfind('-');
  if (dash == std::string::npos || !folder.ends_with('e')) return {};
  std::int64_t count = 0;
  const char* begin = folder.data() + dash + 1;
  const char* end = folder.data() + folder.size() - 1;
  const std::from_chars_result read = std::from_chars(begin, end, count);
  if (read.ec != std::errc{} || read.ptr != end || count < 1) return {};
  return {folder.substr(0, dash), count};
}

}  // namespace

Answerer::Answerer(const Args& args, const ProjectConfig& config, const profiles::Catalog& catalog, Environment environment)
    : args_(args), config_(config), catalog_(catalog), environment_(std::move(environment)) {
  flags_ = runtime::FlagTable(catalog.load(catalog.resolve("flags", "vllm")));
  const PlanDefaults defaults = plan_defaults(catalog);
  default_version_ = defaults.engine_version;
  for (const profiles::ProfileFile& file : catalog.list("models")) {
    for (const std::string& name : file.names) {
      // Several may share a folder's name: the default model is what kvfit itself would carve.
      const std::string folder = lower(last_folder(name));
      if (file.id == defaults.model) models_[folder] = file.id;
      models_.emplace(folder, file.id);
      models_.emplace(lower(name), file.id);
    }
    models_[lower(file.id)] = file.id;
  }
  for (const profiles::ProfileFile& file : catalog.list("hardware")) {
    for (const std::string& name : file.names) gpus_.emplace(label_key(name), file.id);
    gpus_[label_key(file.id)] = file.id;
  }
}

const TargetSettings* Answerer::settings_for(const std::string& file) const {
  const TargetSettings* out = nullptr;
  const std::string path = path_from(config_, file);
  for (const PathSettings& one : config_.deployments) {
    if (matches(one.path, path)) out = &one.settings;
  }
  return out;
}

std::optional<std::string> Answerer::stated_version(const std::string& file) const {
  if (const std::optional<std::string> said = args_.text("engine-version")) return said;
  const TargetSettings* own = settings_for(file);
  return own != nullptr ? own->engine_version : std::nullopt;
}

std::optional<std::string> Answerer::gpu_of_label(const std::string& label) const {
  std::string key = label_key(label);
  for (const std::string_view end : {" shared", " mig"}) {
    if (key.ends_with(end)) key.resize(key.size() - end.size());
  }
  for (const std::string_view start : {"", "nvidia ", "nvidia tesla ", "nvidia geforce "}) {
    if (!key.starts_with(start)) continue;
    const auto found = gpus_.find(key.substr(start.size()));
    if (found != gpus_.end()) return found->second;
  }
  return std::nullopt;
}

// A path of the machine that serves is seldom here: its last folder often is the name of a known model.
std::string Answerer::model_name(const std::string& stated, const std::string& file, std::int64_t& experts,
                                 std::vector<std::string>& assumptions) const {
  std::error_code error;
  if (fs::exists(stated, error)) return stated;
  const fs::path beside = fs::path(file).parent_path() / stated;
  if (!file.empty() && is_path(stated) && fs::exists(beside, error)) return beside.lexically_normal().string();
  if (!is_path(stated)) return stated;
  const std::string repository = cached_repository(stated);
  const std::string folder = repository.empty() ? last_folder(stated) : repository;
  const auto known = models_.find(lower(folder));
  if (known != models_.end()) {
    assumptions.push_back(format("model {} is taken for {}, by its name", stated, known->second));
    return known->second;
  }
  const auto [parent, count] = carve_name(folder);
  const auto carved = models_.find(lower(parent));
  if (count > 0 && carved != models_.end()) {
    experts = count;
    assumptions.push_back(format("model {} is taken for {} with {} experts, by its name", stated, carved->second, count));
    return carved->second;
  }
  return repository.empty() ? stated : repository;
}

Asked Answerer::asked(const runtime::Deployment& deployment, const std::string& file,
                      std::vector<std::string>& assumptions) const {
  const TargetSettings* own = settings_for(file);
  const TargetSettings none;
  const TargetSettings& here = own != nullptr ? *own : none;
  const auto first = [](std::initializer_list<std::optional<std::string>> values) -> std::optional<std::string> {
    for (const std::optional<std::string>& value : values) {
      if (value) return value;
    }
    return std::nullopt;
  };
  Asked out;
  out.args = &args_;
  std::optional<runtime::Stated> draft;
  out.serving = runtime::serving_of(deployment, draft);
  if (draft) out.draft_model = draft->text;
  std::int64_t experts = args_.integer("experts").value_or(deployment.experts);
  const std::optional<std::string> model =
      first({args_.text("model"), here.model, deployment.model ? std::optional(deployment.model->text) : std::nullopt,
             config_.settings.model});
  if (!model) profiles::fail_input("no model is named", deployment.where, "say --model, or `model:` in kvfit.yaml");
  out.model = model_name(*model, file, experts, assumptions);
  if (out.draft_model) {
    std::int64_t ignored = 0;
    out.draft_model = model_name(*out.draft_model, file, ignored, assumptions);
  }
  out.search.experts_fixed = experts;
  std::optional<std::string> labelled;
  if (deployment.gpus.product) {
    labelled = deployment.kind == "plan" ? deployment.gpus.product->text : gpu_of_label(deployment.gpus.product->text);
    if (!labelled && !args_.has("gpu") && !here.gpu) {
      profiles::fail_input(format("no GPU is known by the label '{}'", deployment.gpus.product->text),
                           deployment.gpus.product->where, "say --gpu, or `gpu:` in kvfit.yaml; kvfit gpus lists them");
    }
  }
  out.gpu = first({args_.text("gpu"), here.gpu, labelled, config_.settings.gpu});
  out.system = first({args_.text("system"), here.system, deployment.wsl2 ? std::optional<std::string>("wsl2") : std::nullopt,
                      config_.settings.system})
                   .value_or("");
  out.engine = args_.text("engine");
  out.engine_version = first({args_.text("engine-version"), here.engine_version,
                              deployment.engine_version ? std::optional(deployment.engine_version->text) : std::nullopt,
                              config_.settings.engine_version});
  out.gpus = args_.integer("gpus");
  if (!out.gpus) out.gpus = here.gpus;
  out.link = args_.text("link").value_or("");
  out.used_elsewhere =
      args_.size("used-elsewhere")
          .value_or(here.used_elsewhere.value_or(config_.settings.used_elsewhere.value_or(profiles::Bytes(0))));
  out.spread_stated = true;
  out.confidence = confidence_from(args_);
  out.allow_fallback = args_.toggle("allow-fallback").value_or(false);
  out.long_context = runtime::allows_long_context(deployment);
  out.missing_draft = true;
  return out;
}

void Answerer::price(const Asked& asked, CheckCase& out) const {
  BuiltQuestion built = build_question(asked, catalog_, environment_, true);
  if (args_.text("corrections").value_or("on") == "on") use_corrections(built);
  Report report = report_on(built);
  report.plan = planner::make_plan(report.question);
  for (std::string& text : taken_for_granted(report)) report.plan.assumptions.push_back(std::move(text));
  for (const std::string& text : out.assumptions) report.plan.assumptions.push_back(text);
  const std::string margin = args_.text("margin").value_or(config_.margin.value_or("0"));
  const profiles::Bytes least = margin_of(margin, hardware::total_memory(report.question.node).likely);
  out.report = std::move(report);
  out.findings = check_findings({.one = out,
                                 .report = *out.report,
                                 .deployment = out.deployment,
                                 .flags = flags_,
                                 .missing_draft = built.missing_draft,
                                 .margin = least});
}

CheckCase Answerer::answer(runtime::Deployment deployment, const std::string& file) const {
  CheckCase out;
  out.deployment = std::move(deployment);
  out.file = file;
  try {
    price(asked(out.deployment, file, out.assumptions), out);
  } catch (const profiles::Error& error) {
    if (error.fault() != profiles::Fault::input) throw;
    out.report.reset();
    out.findings.clear();
    const bool placed = !error.where().file.empty();
    std::string text = error.message();
    if (placed && error.where().file != out.deployment.where.file) text += format(" ({})", error.where().file);
    add_finding(out.findings, "KVF000", std::move(text), error.hint(), placed ? error.where() : out.deployment.where);
    remark_findings(out.deployment, out.findings);
  }
  return out;
}

CheckCase Answerer::answer_flags() const {
  CheckCase out;
  out.deployment.kind = "flags";
  Asked asked = asked_from(args_);
  asked.search.experts = asked.search.context = asked.search.sequences = false;
  if (!asked.gpu) asked.gpu = config_.settings.gpu;
  if (asked.system.empty()) asked.system = config_.settings.system.value_or("");
  if (!asked.engine_version) asked.engine_version = config_.settings.engine_version;
  asked.missing_draft = true;
  if (!asked.model)
    profiles::fail_input("which deployment? name files, --model, or -- vllm serve ...", {}, "see kvfit check --help");
  price(asked, out);
  return out;
}

}  // namespace kvfit::cli
