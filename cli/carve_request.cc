#include "cli/carve_request.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "carve/carve_plan.h"
#include "carve/request_json.h"
#include "cli/catalog_access.h"
#include "cli/make_report.h"
#include "cli/plan_defaults.h"
#include "cli/terminal.h"
#include "planner/rules.h"
#include "planner/search.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {
namespace {

using profiles::fail_input;
using profiles::format;

// Flags that `--gpu` hands on to the planner.
constexpr std::array<std::string_view, 11> kPlanFlags = {
    "gpu",          "nvidia-smi",     "gpus",   "system",        "tp", "util", "max-model-len",
    "max-num-seqs", "kv-cache-dtype", "engine", "engine-version"};

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t out = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, out);
  if (error != std::errc() || at != end || out < 1) return std::nullopt;
  return out;
}

// "3,17" for all blocks, or a JSON file with a list for each block.
carve::ExpertIds expert_ids(const Args& args, std::string_view flag) {
  const std::string text = args.text(flag).value_or("");
  if (text.empty()) return {};
  const bool listed = text.find_first_not_of("0123456789,") == std::string::npos;
  if (!listed) return carve::read_ids(profiles::parse_json(profiles::read_text_file(text), text));
  carve::ExpertIds out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::int32_t id = -1;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + comma, id);
    if (error != std::errc() || end != text.data() + comma) {
      fail_input(format("'--{} {}' is no list of expert numbers", flag, printable(text)), {}, "as in 3,17,200");
    }
    out.everywhere.insert(id);
    at = comma + 1;
  }
  return out;
}

// --score A, or A,B with --combine.
void read_scores(const Args& args, carve::Request& request) {
  const std::string text = args.text("score").value_or("kirigami");
  const std::size_t comma = text.find(',');
  request.score = carve::parse_score(std::string_view(text).substr(0, comma));
  const bool combined = args.has("combine");
  if (combined != (comma != std::string::npos)) {
    fail_input(combined ? format("--combine takes two scores, '--score {}' names one", printable(text))
                        : format("'--score {}' names two scores", printable(text)),
               {},
               combined ? "as in --score kirigami,aimer"
                        : "--combine rank-sum chooses by both; carve compare shows where they differ");
  }
  if (combined) request.second = carve::parse_score(std::string_view(text).substr(comma + 1));
}

// The planner asked about this checkpoint on that machine.
std::int64_t keep_for_gpu(const Args& args, const Console& console, const carve::Request& request) {
  std::vector<std::string> words = {"plan", "--model", request.source};
  for (const std::string_view flag : kPlanFlags) {
    const std::optional<std::string> value = args.text(flag);
    if (value) words.insert(words.end(), {format("--{}", flag), *value});
  }
  const Args plan = parse_args(words);
  const Report report = make_report(plan, open_catalog(args, process_environment()), process_environment());
  const std::int64_t experts = report.plan.experts;
  const bool runs = report.plan.verdict == planner::Verdict::fits || report.plan.verdict == planner::Verdict::tight;
  if (!runs || experts <= 0) {
    fail_input("no count of experts makes this model fit that machine", {}, "see kvfit plan with the same flags");
  }
  console.note(format("the planner keeps {} experts for this machine", experts));
  return experts;
}

// Counts that obey every rule of divisibility are multiples of this.
std::int64_t count_step(const Args& args, const carve::Checkpoint& checkpoint) {
  return std::lcm(std::lcm(std::int64_t{4}, checkpoint.routing.groups), args.integer("ep-size").value_or(1));
}

std::int64_t keep_from_text(const std::string& text, const carve::Checkpoint& checkpoint, std::int64_t step,
                            const Console& console) {
  const std::int64_t experts = checkpoint.layout.experts;
  if (text == "auto") {
    // Every engine has a fused kernel for powers of two: the largest one below the count.
    const std::int64_t keep = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(experts - 1)));
    console.note(format("--keep auto: {} of {} experts", keep, experts));
    return keep;
  }
  if (text.ends_with("%")) {
    const std::optional<std::int64_t> share = whole_number(std::string_view(text).substr(0, text.size() - 1));
    if (!share || *share > 100) fail_input(format("'--keep {}' is no share", printable(text)), {}, "as in 75%");
    const std::int64_t keep = experts * *share / 100 / step * step;
    console.note(format("--keep {}: {} of {} experts", text, keep, experts));
    return keep;
  }
  const std::optional<std::int64_t> keep = whole_number(text);
  if (!keep)
    fail_input(format("'--keep {}' is no count of experts", printable(text)), {}, "a count, a share as in 75%, or auto");
  return *keep;
}

std::int64_t keep_from_flags(const Args& args, const Console& console, const carve::Request& request) {
  const std::optional<std::string> keep = args.text("keep");
  if (keep && whole_number(*keep)) return *whole_number(*keep);  // no need to open the checkpoint twice
  if (args.has("gpu")) return keep_for_gpu(args, console, request);
  const carve::Checkpoint checkpoint = carve::open_checkpoint(request);
  const std::int64_t step = count_step(args, checkpoint);
  if (keep) return keep_from_text(*keep, checkpoint, step, console);
  const std::int64_t found = carve::largest_keep(checkpoint, args.size("fit")->count, step);
  if (found == 0)
    fail_input("no count of experts makes the weights that small", {}, "see kvfit carve plan with a small --keep");
  console.note(format("--fit: {} of {} experts", found, checkpoint.layout.experts));
  return found;
}

}  // namespace

carve::Request carve_request(const Args& args, const std::string& source) {
  carve::Request out;
  out.source = source;
  if (args.words.front() != "compare") read_scores(args, out);
  out.seed = static_cast<std::uint64_t>(args.integer("seed").value_or(0));
  out.score_file = args.text("score-file").value_or("");
  out.fill = args.toggle("fill").value_or(false);
  out.draft = carve::parse_draft(args.text("mtp").value_or("carve"));
  out.padding = args.toggle("canonical-pad").value_or(false) ? carve::Padding::canonical : carve::Padding::shareable;
  out.reshard = args.size("reshard").value_or(profiles::Bytes{}).count;
  if (args.has("reshard") && out.reshard == 0) fail_input("--reshard 0: no file is that small", {}, "as in --reshard 5GB");
  out.protect = expert_ids(args, "protect");
  out.drop = expert_ids(args, "drop");
  out.remap_tables = args.text("hash-remap").value_or("refuse") == "nearest";
  out.drop_tr3_manifest = args.toggle("tr3-drop-manifest").value_or(false);
  out.allow_unknown = args.text("allow-unknown").value_or("");
  out.ignore_dangling = args.toggle("ignore-dangling").value_or(false);
  out.include_orphans = args.toggle("include-orphans").value_or(false);
  out.force_count = args.toggle("force-count").value_or(false);
  out.keep_patterns = args.toggle("keep-patterns").value_or(false);
  return out;
}

std::int64_t carve_keep(const Args& args, const Console& console, const carve::Request& request) {
  const std::optional<std::string> keep = args.text("keep");
  const std::optional<profiles::Bytes> fit = args.size("fit");
  const int given = (keep ? 1 : 0) + (fit ? 1 : 0) + (args.has("gpu") ? 1 : 0);
  if (given != 1) {
    fail_input(given == 0 ? "how many experts shall stay?" : "--keep, --fit and --gpu each choose the count; give one", {},
               "--keep 128, --keep 75%, --keep auto, --fit 14GiB, or --gpu ID");
  }
  const std::int64_t found = keep_from_flags(args, console, request);
  const std::int64_t ranks = args.integer("ep-size").value_or(1);
  if (found % ranks != 0) {
    fail_input(format("{} experts do not divide over {} expert-parallel ranks", found, ranks), {},
               format("{} and {} do", found / ranks * ranks, (found / ranks + 1) * ranks));
  }
  return found;
}

std::string kernel_remark(const Args& args, std::int64_t keep, std::int64_t experts) {
  const profiles::Catalog catalog = open_catalog(args, process_environment());
  const PlanDefaults defaults = plan_defaults(catalog);
  const profiles::ProfileFile& file = catalog.resolve("engines", args.text("engine").value_or(defaults.engine));
  const planner::Rules rules(catalog.load(file),
                             planner::parse_version(args.text("engine-version").value_or(defaults.engine_version)));
  const auto remark = [&rules](std::int64_t count) {
    planner::Traits traits;
    traits["experts"] = static_cast<double>(count);
    traits["platform"] = std::string("cuda");
    const planner::Row* const row = rules.find("expert_kernels", traits);
    return row ? row->word("remark") : std::string();
  };
  const std::string out = remark(keep);
  if (out.empty()) return out;
  for (std::int64_t away = 1; away < experts; ++away) {
    for (const std::int64_t count : {keep - away, keep + away}) {
      if (count > 0 && count <= experts && remark(count).empty()) {
        return format("{}; {} is the nearest count with one in all", out, count);
      }
    }
  }
  return out;
}

}  // namespace kvfit::cli
