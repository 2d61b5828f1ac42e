#include "cli/check_answer.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/check_rules.h"
#include "cli/findings.h"
#include "cli/make_report.h"
#include "cli/model_source.h"
#include "cli/plan_defaults.h"
#include "cli/serving_flags.h"
#include "planner/search.h"
#include "profiles/error.h"
#include "profiles/spelling.h"
#include "profiles/text.h"
#include "runtime/deployment_serving.h"
#include "runtime/serving_facts.h"

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

std::optional<std::string> first_of(std::initializer_list<std::optional<std::string>> values) {
  for (const std::optional<std::string>& value : values) {
    if (value) return value;
  }
  return std::nullopt;
}

void disagreement(CheckCase& out, std::string text, const profiles::Where& where) {
  add_finding(out.findings, "KVF033", std::move(text), "leave one of the two out, or make them agree", where);
}

}  // namespace

Answerer::Answerer(const Args& args, const ProjectConfig& config, const profiles::Catalog& catalog, Environment environment)
    : args_(args), config_(config), catalog_(catalog), environment_(std::move(environment)) {
  flags_ = runtime::FlagTable(catalog.load(catalog.resolve("flags", "vllm")));
  released_image_ = runtime::read_serving_facts(catalog.load(catalog.resolve("serving", "vllm"))).image;
  const PlanDefaults defaults = plan_defaults(catalog);
  default_version_ = defaults.engine_version;
  for (const profiles::ProfileFile& file : catalog.list("models")) {
    for (const std::string& name : file.names) {
      // Several may share a folder's name: the default model is what kvfit itself would carve.
      const std::string folder = lower(last_folder(name));
      if (file.id == defaults.model) models_[folder] = name;
      models_.emplace(folder, name);
      models_.emplace(lower(name), name);
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

runtime::CallContext Answerer::context_for(const std::string& file) const {
  const TargetSettings* own = settings_for(file);
  const std::optional<std::string> said = own != nullptr ? own->engine_version : std::nullopt;
  return {.flags = &flags_,
          .engine_version = args_.text("engine-version"),
          .usual_version = first_of({said, config_.settings.engine_version}),
          .default_version = default_version_,
          .read = {},
          .released_image = released_image_};
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

std::shared_ptr<const ThisGpu> Answerer::this_gpu(const std::string& name) const {
  std::shared_ptr<const ThisGpu>& found = found_[name];
  if (!found) found = std::make_shared<const ThisGpu>(find_this_gpu(args_, catalog_, name));
  return found;
}

std::string Answerer::gpu_id(const std::string& name) const {
  return names_this_gpu(name) ? this_gpu(name)->match.gpu->id : gpu_of_label(name).value_or(name);
}

// The command line beats the deployment, which beats kvfit.yaml: first what it says for the path, then for all.
std::optional<std::string> Answerer::machine_of(const std::string& file, CheckCase& out) const {
  const TargetSettings* own = settings_for(file);
  const std::optional<std::string> flag = args_.text("gpu");
  const std::optional<std::string> here = own != nullptr ? own->gpu : std::nullopt;
  const std::optional<runtime::Stated>& label = out.deployment.gpus.product;
  if (!label) return first_of({flag, here, config_.settings.gpu});
  const std::optional<std::string> known =
      out.deployment.kind == "plan" ? std::optional(label->text) : gpu_of_label(label->text);
  if (!known && !flag && !here) {
    profiles::fail_input(format("no GPU is known by the label '{}'", label->text), label->where,
                         "say --gpu, or `gpu:` for this path below `deployments:` in kvfit.yaml; kvfit gpus lists them");
  }
  if (flag && known && gpu_id(*flag) != *known) {
    disagreement(out, format("--gpu {} is planned for, though the deployment asks for {}", *flag, label->text),
                 label->where);
  } else if (!flag && here && known && gpu_id(*here) != *known) {
    disagreement(out, format("the deployment's {} is planned for, though kvfit.yaml says {}", label->text, *here),
                 label->where);
  }
  return first_of({flag, known, here});
}

std::optional<std::string> Answerer::release_of(const std::string& file, CheckCase& out) const {
  const TargetSettings* own = settings_for(file);
  const std::optional<std::string> flag = args_.text("engine-version");
  const std::optional<std::string> here = own != nullptr ? own->engine_version : std::nullopt;
  const std::optional<runtime::Stated>& image = out.deployment.engine_version;
  if (!image) return first_of({flag, here, config_.settings.engine_version});
  const auto other = [&image](const std::string& release) {
    return planner::compare(planner::parse_version(release), planner::parse_version(image->text)) != 0;
  };
  if (flag && other(*flag)) {
    disagreement(out, format("--engine-version {} is planned for, though the deployment runs {}", *flag, image->text),
                 image->where);
  } else if (!flag && here && other(*here)) {
    disagreement(out, format("the deployment's {} is planned for, though kvfit.yaml says {}", image->text, *here),
                 image->where);
  }
  return first_of({flag, image->text});
}

std::string Answerer::model_id(const std::string& name) const {
  const auto known = models_.find(lower(name));
  return known == models_.end() ? lower(name) : catalog_.resolve("models", known->second).id;
}

// A model that a deployment names and nobody here knows (a fine-tuned copy, a folder of the server) is for kvfit.yaml to
// say.
std::string Answerer::model_of(const std::string& file, std::int64_t& experts, CheckCase& out) const {
  const TargetSettings* own = settings_for(file);
  const std::optional<std::string> flag = args_.text("model");
  const std::optional<std::string> said = first_of({own != nullptr ? own->model : std::nullopt, config_.settings.model});
  const std::optional<runtime::Stated>& stated = out.deployment.model;
  if (!stated || flag) {
    const std::optional<std::string> model = first_of({flag, said});
    if (!model) profiles::fail_input("no model is named", out.deployment.where, "say --model, or `model:` in kvfit.yaml");
    std::string name = model_name(*model, file, experts, out.assumptions);
    std::int64_t ignored = 0;
    std::vector<std::string> unused;
    if (stated && model_id(model_name(stated->text, file, ignored, unused)) != model_id(name)) {
      disagreement(out, format("--model {} is planned, though the deployment serves {}", *model, stated->text),
                   stated->where);
    }
    return name;
  }
  std::string name = model_name(stated->text, file, experts, out.assumptions);
  if (!said && name.find('$') != std::string::npos) {
    profiles::fail_input(format("the model is a variable that nothing at hand sets: '{}'", stated->text), stated->where,
                         "say --model, or `model:` in kvfit.yaml; or check the file as it is rendered");
  }
  std::error_code error;
  const bool known = models_.contains(lower(name)) || fs::exists(name, error) ||
                     (!is_path(name) && name.find('/') != std::string::npos && can_open_model(name, catalog_, environment_));
  if (!said || known) return name;
  out.assumptions.push_back(format("model {} is taken for {}, as kvfit.yaml says", stated->text, *said));
  return model_name(*said, file, experts, out.assumptions);
}

Asked Answerer::asked(const std::string& file, CheckCase& out) const {
  const runtime::Deployment& deployment = out.deployment;
  const TargetSettings* own = settings_for(file);
  const TargetSettings none;
  const TargetSettings& here = own != nullptr ? *own : none;
  Asked asked;
  asked.args = &args_;
  std::optional<runtime::Stated> draft;
  asked.serving = runtime::serving_of(deployment, draft);
  std::int64_t experts = args_.integer("experts").value_or(deployment.experts);
  asked.model = model_of(file, experts, out);
  if (draft) {
    std::int64_t ignored = 0;
    asked.draft_model = model_name(draft->text, file, ignored, out.assumptions);
  }
  asked.search.experts_fixed = experts;
  asked.gpu = machine_of(file, out);
  if (asked.gpu && names_this_gpu(*asked.gpu)) asked.this_gpu = this_gpu(*asked.gpu);
  const std::optional<std::string> wsl = deployment.wsl2 ? std::optional<std::string>("wsl2") : std::nullopt;
  asked.system = first_of({args_.text("system"), wsl, here.system, config_.settings.system}).value_or("");
  asked.engine = args_.text("engine");
  asked.engine_version = release_of(file, out);
  asked.gpus = args_.integer("gpus");
  if (!asked.gpus) asked.gpus = here.gpus;
  asked.link = args_.text("link").value_or("");
  asked.used_elsewhere =
      args_.size("used-elsewhere")
          .value_or(here.used_elsewhere.value_or(config_.settings.used_elsewhere.value_or(profiles::Bytes(0))));
  asked.spread_stated = true;
  asked.confidence = confidence_from(args_);
  asked.allow_fallback = args_.toggle("allow-fallback").value_or(false);
  asked.long_context = runtime::allows_long_context(deployment);
  asked.missing_draft = true;
  return asked;
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
  std::vector<Placed> disagreements = std::move(out.findings);
  out.findings = check_findings({.one = out,
                                 .report = *out.report,
                                 .deployment = out.deployment,
                                 .flags = flags_,
                                 .missing_draft = built.missing_draft,
                                 .margin = least});
  for (Placed& one : disagreements) out.findings.push_back(std::move(one));  // notes: the mildest, so last
}

CheckCase Answerer::answer(runtime::Deployment deployment, const std::string& file) const {
  CheckCase out;
  out.deployment = std::move(deployment);
  out.file = file;
  try {
    price(asked(file, out), out);
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
