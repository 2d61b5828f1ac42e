// kvfit calibrate LOG...
#include <optional>
#include <string>
#include <string_view>
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
#include "profiles/error.h"
#include "profiles/text.h"
#include "runtime/boot_log.h"
#include "runtime/comparison.h"
#include "runtime/correction_store.h"

namespace kvfit::cli {
namespace {

using profiles::format;
using runtime::BootLog;
using runtime::Comparison;

// The profile whose total is nearest to what the log prints, when it is near and no other is as near.
std::optional<std::string> gpu_of(const BootLog& log, const profiles::Catalog& catalog) {
  if (log.total.empty()) return std::nullopt;
  const double printed = log.total.front().value;
  std::optional<std::string> best;
  double best_off = 0.02;  // GiB: the print's rounding and a driver's reserve
  bool alone = true;
  for (const hardware::Gpu& gpu : hardware::load_gpus(catalog)) {
    const double low = profiles::to_gib(gpu.cuda_total_linux.value.low);
    const double high = profiles::to_gib(gpu.cuda_total_linux.value.high);
    const double off = printed < low ? low - printed : printed > high ? printed - high : 0;
    if (off > best_off) continue;
    alone = !best || off < best_off;
    best = gpu.id;
    best_off = off;
  }
  return alone ? best : std::nullopt;
}

Hints hints_of(const BootLog& log, const profiles::Catalog& catalog) {
  Hints out{.gpu = gpu_of(log, catalog), .engine_defaults = true};
  if (log.model) out.model = log.model->value;
  if (log.version) out.engine_version = log.version->value;
  return out;
}

void require(const Args& args, const BootLog& log, const Hints& hints, const std::string& path) {
  const profiles::Where where{.file = path};
  if (log.engine != "vllm") {
    profiles::fail_input(format("this is a log of {}, which kvfit does not plan for", log.engine), where);
  }
  if (log.weights.empty() && log.available_kv.empty() && log.kv_tokens.empty() && log.end == runtime::BootEnd::unknown) {
    profiles::fail_input("no line of a boot is in this log", where, "give what vLLM prints while it starts");
  }
  if (!args.has("gpu") && !hints.gpu) {
    profiles::fail_input("the log does not say which GPU", where, "add --gpu ID; kvfit gpus lists them");
  }
  if (!args.has("model") && !hints.model) profiles::fail_input("the log does not say which model", where, "add --model ID");
}

// One log: compared, printed, and kept or forgotten where asked; true when every line agrees.
bool calibrate(const Args& args, const Console& console, const profiles::Catalog& catalog, const std::string& path) {
  const BootLog log = runtime::read_boot_log(read_text(path));
  const Hints hints = hints_of(log, catalog);
  require(args, log, hints, path == "-" ? "<stdin>" : path);
  BuiltQuestion built = build_question(args, catalog, process_environment(), hints);
  built.question.serving = runtime::settings_from_log(log, built.question.serving);
  const Comparison comparison = runtime::compare(log, planner::Evaluator(built.question));
  Listing listing{.schema = "kvfit.calibration", .value = comparison_json(log, comparison)};
  listing.heading = format("{}: {} on {}, {} {}\n\n", path == "-" ? "<stdin>" : path, built.question.model.id,
                           built.question.node.gpu.name, built.engine, built.engine_version);
  listing.table = comparison_table(comparison);
  listing.footing = comparison_footing(log, comparison);
  deliver(args, console, listing);
  const std::string store = runtime::default_correction_file();
  if (args.toggle("keep").value_or(false)) {
    runtime::store_corrections(store, correction_key(built), comparison.corrections);
    console.note(format("kept {} corrections in {}", comparison.corrections.size(), store));
  } else if (args.toggle("forget").value_or(false)) {
    runtime::store_corrections(store, correction_key(built), {});
    console.note(format("forgot the corrections of this configuration in {}", store));
  }
  return !comparison.first_outside;
}

}  // namespace

int calibrate_command(const Args& args, const Console& console) {
  if (args.words.empty())
    profiles::fail_input("which log? kvfit calibrate LOG...", {}, "- reads stdin; see kvfit calibrate --help");
  const profiles::Catalog catalog = open_catalog(args, process_environment());
  bool all = true;
  for (const std::string& path : args.words) all = calibrate(args, console, catalog, path) && all;
  return all ? kYes : kNo;
}

}  // namespace kvfit::cli
