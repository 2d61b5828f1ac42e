// kvfit calibrate LOG...
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/catalog_access.h"
#include "cli/commands.h"
#include "cli/comparison_report.h"
#include "cli/listing.h"
#include "cli/make_report.h"
#include "cli/model_source.h"
#include "cli/question_builder.h"
#include "hardware/gpu_catalog.h"
#include "planner/evaluator.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/spelling.h"
#include "profiles/text.h"
#include "runtime/boot_log.h"
#include "runtime/comparison.h"
#include "runtime/correction_store.h"
#include "runtime/log_settings.h"

namespace kvfit::cli {
namespace {

using profiles::format;
using runtime::BootLog;
using runtime::Comparison;

constexpr std::int64_t kLargestLog = std::int64_t{1} << 30;  // of a server that has run for months

// The profiles whose total is nearest to what the log prints, when they are near.
std::vector<std::string> gpus_of(const BootLog& log, const profiles::Catalog& catalog) {
  std::vector<std::string> out;
  if (log.total.empty()) return out;
  const double printed = log.total.front().value;
  double best_off = 0.02;  // GiB: the print's rounding and a driver's reserve
  for (const hardware::Gpu& gpu : hardware::load_gpus(catalog)) {
    const double low = profiles::to_gib(gpu.cuda_total_linux.value.low);
    const double high = profiles::to_gib(gpu.cuda_total_linux.value.high);
    const double off = printed < low ? low - printed : printed > high ? printed - high : 0;
    if (off > best_off) continue;
    if (off < best_off) out.clear();
    out.push_back(gpu.id);
    best_off = off;
  }
  return out;
}

std::string last_folder(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

// A path of the machine that served is seldom here: its last folder often is the name of a known model.
std::string model_named(const std::string& stated, const profiles::Catalog& catalog) {
  std::error_code ignored;
  const bool path = stated.starts_with('/') || stated.starts_with('.');
  if (!path || std::filesystem::exists(stated, ignored)) return stated;
  const std::string folder = profiles::lower(last_folder(stated));
  for (const profiles::ProfileFile& file : catalog.list("models")) {
    if (profiles::lower(file.id) == folder) return file.id;
    for (const std::string& name : file.names) {
      if (profiles::lower(last_folder(name)) == folder) return file.id;
    }
  }
  return stated;
}

bool same_engine(const BootLog& log) { return log.engine == "vllm"; }

// What flags leave open, from the log.
Asked asked_of(const Args& args, const BootLog& log, const profiles::Catalog& catalog) {
  Asked out = asked_from(args);
  const std::vector<std::string> gpus = out.gpu ? std::vector<std::string>{} : gpus_of(log, catalog);
  if (gpus.size() == 1) out.gpu = gpus.front();
  if (!out.model && log.model) out.model = model_named(log.model->value, catalog);
  if (!out.engine_version && log.version && same_engine(log)) out.engine_version = log.version->value;
  const runtime::FlagTable flags(catalog.load(catalog.resolve("flags", "vllm")));
  out.serving = runtime::settings_from_log(log, runtime::arguments_from_log(log, flags, out.serving));
  const planner::Serving& serving = out.serving;
  if (serving.tensor_parallel_size * serving.pipeline_parallel_size * serving.data_parallel_size > 1)
    out.spread_stated = true;
  if (!out.draft_model && log.draft_model && serving.speculative) out.draft_model = log.draft_model->value;
  out.missing_draft = true;
  return out;
}

bool is_boot(const BootLog& log) { return runtime::states_memory(log) || log.end != runtime::BootEnd::unknown; }

void require(const Asked& asked, const BootLog& log, const profiles::Catalog& catalog, const profiles::Where& where) {
  if (!asked.gpu) {
    const std::vector<std::string> gpus = gpus_of(log, catalog);
    profiles::fail_input("the log does not say which GPU", where,
                         gpus.empty() ? "add --gpu ID; kvfit gpus lists them"
                                      : format("add --gpu ID; a total of {:.2f} GiB is that of {}", log.total.front().value,
                                               profiles::join(gpus, ", ")));
  }
  if (!asked.model) profiles::fail_input("the log does not say which model", where, "add --model ID");
}

// What a boot teaches, under its key; of no use where another checkpoint was loaded than planned.
struct Lesson {
  runtime::CorrectionKey key;
  std::vector<planner::Correction> corrections;
  bool weights_left_out = false;
};

struct Calibration {
  std::vector<ComparedBoot> boots;
  std::vector<Lesson> lessons;
  bool unusable = false;  ///< one of several inputs was; the others are compared
};

void keep(const Args& args, const Console& console, const std::vector<Lesson>& lessons) {
  const bool keeps = args.toggle("keep").value_or(false);
  if (!keeps && !args.toggle("forget").value_or(false)) return;
  const std::string store = runtime::default_correction_file();
  for (const Lesson& lesson : lessons) {
    if (!keeps) {
      runtime::store_corrections(store, lesson.key, {});
      console.note(format("forgot the corrections of this configuration in {}", store));
      continue;
    }
    if (lesson.weights_left_out) console.note("these weights are another checkpoint's than planned: not kept");
    if (lesson.corrections.empty()) {
      console.note("this log states nothing that can be kept");
      continue;
    }
    runtime::store_corrections(store, lesson.key, lesson.corrections);
    console.note(
        format("kept {} correction{} in {}", lesson.corrections.size(), lesson.corrections.size() == 1 ? "" : "s", store));
  }
}

// One boot, compared.
void calibrate(const Args& args, const profiles::Catalog& catalog, BootLog log, const profiles::Where& where,
               std::string which, Calibration& out) {
  const Asked asked = asked_of(args, log, catalog);
  require(asked, log, catalog, where);
  const BuiltQuestion built = build_question(asked, catalog, process_environment(), true);
  Comparison comparison = runtime::compare(log, planner::Evaluator(built.question));
  if (comparison.lines.empty()) {
    profiles::fail_input("nothing in this log can be compared", where,
                         same_engine(log) ? "give what vLLM prints while it starts"
                                          : format("of {} only weights and the size of the KV cache are", log.engine));
  }
  if (same_engine(log)) out.lessons.push_back({correction_key(built), comparison.corrections, comparison.other_weights});
  out.boots.push_back({.file = where.file,
                       .which = std::move(which),
                       .model = built.question.model.id,
                       .gpu = built.question.node.gpu.name,
                       .engine = same_engine(log) ? format("{} {}", built.engine, built.engine_version) : log.engine,
                       .log = std::move(log),
                       .comparison = std::move(comparison)});
}

// Every start in one file. A start that printed nothing of memory is said and passed over, unless it is the only one.
void calibrate_file(const Args& args, const Console& console, const profiles::Catalog& catalog, const std::string& path,
                    Calibration& out) {
  const profiles::Where where{.file = path == "-" ? "<stdin>" : path};
  std::vector<BootLog> boots =
      runtime::read_boot_logs(path == "-" ? read_text(path) : profiles::read_text_file(path, kLargestLog));
  if (std::none_of(boots.begin(), boots.end(), is_boot)) {
    for (const runtime::Logged<std::string>& line : boots.front().unusable)
      console.note(format("line {}: {}", line.line, line.value));
    profiles::fail_input("no line of a boot is in this log", where, "give what vLLM prints while it starts");
  }
  for (std::size_t i = 0; i < boots.size(); ++i) {
    const int first = boots[i].first_line;
    if (!is_boot(boots[i])) {
      console.note(format("{}: the start at line {} prints nothing of memory", where.file, first));
      continue;
    }
    std::string which = boots.size() > 1 ? format("start {} of {}, from line {}", i + 1, boots.size(), first) : "";
    try {
      calibrate(args, catalog, std::move(boots[i]), where, std::move(which), out);
    } catch (const profiles::Error& error) {
      if (boots.size() == 1 || error.fault() != profiles::Fault::input) throw;
      console.complain(error.text());
      out.unusable = true;
    }
  }
}

}  // namespace

int calibrate_command(const Args& args, const Console& console) {
  if (args.words.empty())
    profiles::fail_input("which log? kvfit calibrate LOG...", {}, "- reads stdin; see kvfit calibrate --help");
  const profiles::Catalog catalog = open_catalog(args, process_environment());
  Calibration all;
  for (const std::string& path : args.words) {
    try {
      calibrate_file(args, console, catalog, path, all);
    } catch (const profiles::Error& error) {
      if (args.words.size() == 1 || error.fault() != profiles::Fault::input) throw;
      console.complain(error.text());
      all.unusable = true;
    }
  }
  if (all.boots.empty()) return kNoAnswer;
  deliver(args, console, calibration_listing(all.boots));
  keep(args, console, all.lessons);
  const bool off = std::any_of(all.boots.begin(), all.boots.end(),
                               [](const ComparedBoot& boot) { return boot.comparison.first_outside.has_value(); });
  return off ? kNo : all.unusable ? kNoAnswer : kYes;
}

}  // namespace kvfit::cli
