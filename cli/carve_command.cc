// kvfit carve inspect | plan | run | verify | compare; parts of a job are in carve_job.cc
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "carve/run.h"
#include "carve/verify.h"
#include "cli/carve_job.h"
#include "cli/carve_progress.h"
#include "cli/carve_report.h"
#include "cli/carve_request.h"
#include "cli/commands.h"
#include "cli/listing.h"
#include "cli/version.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using profiles::fail_input;
using profiles::format;

const std::vector<std::string> kWords = {"inspect", "plan", "run", "verify", "compare", "job", "merge", "launch"};

// The words after the sub-command; Error unless there are `count` of them.
std::vector<std::string> paths(const Args& args, std::size_t count, const std::string& usage) {
  const std::vector<std::string> out(args.words.begin() + 1, args.words.end());
  if (out.size() != count) {
    fail_input(format("'{}' takes {} path{}, {} given", args.words.front(), count, count == 1 ? "" : "s", out.size()), {},
               usage);
  }
  return out;
}

int inspect(const Args& args, const Console& console) {
  const std::string source = paths(args, 1, "kvfit carve inspect SRC").front();
  deliver(args, console, inspect_listing(carve::open_checkpoint(carve_request(args, source))));
  return kYes;
}

carve::CarvePlan make_plan(const Args& args, const Console& console, const std::string& source) {
  carve::Request request = carve_request(args, source);
  request.keep = carve_keep(args, console, request);
  CarveProgress progress(console, shows_progress(args) && console.err().terminal);
  return carve::plan_carve(std::move(request), version_number(),
                           [&progress](std::int64_t done) { progress({"scoring", done, 0}); });
}

int plan(const Args& args, const Console& console) {
  const std::string source = paths(args, 1, "kvfit carve plan SRC --keep K").front();
  const carve::CarvePlan plan = make_plan(args, console, source);
  deliver(args, console, plan_listing(plan, kernel_remark(args, plan.request.keep, plan.checkpoint.layout.experts)));
  return kYes;
}

int run(const Args& args, const Console& console) {
  if (args.has("job")) return carve_part(args, console);
  const std::vector<std::string> places = paths(args, 2, "kvfit carve run SRC DST --keep K");
  if (args.toggle("dry-run").value_or(false)) {
    const carve::CarvePlan plan = make_plan(args, console, places[0]);
    deliver(args, console, plan_listing(plan, kernel_remark(args, plan.request.keep, plan.checkpoint.layout.experts)));
    return kYes;
  }
  carve::Request request = carve_request(args, places[0]);
  request.keep = carve_keep(args, console, request);
  carve::RunOptions options = carve_run_options(args);
  options.destination = places[1];
  carve::RunReport report;
  {
    CarveProgress progress(console, shows_progress(args));
    options.progress = [&progress](const carve::Progress& now) { progress(now); };
    report = carve::run_carve(request, options);
  }
  return deliver_run(args, console, report, places[1]);
}

int verify(const Args& args, const Console& console) {
  const bool alone = args.words.size() == 2;  // the source is gone: the manifest's hashes must do
  const std::vector<std::string> places =
      paths(args, alone ? 1 : 2, "kvfit carve verify SRC DST, or kvfit carve verify DST where the source is gone");
  const std::string& carved = places.back();
  carve::VerifyOptions options;
  options.full = args.toggle("full").value_or(false);
  options.hashes = args.toggle("hash").value_or(true);
  std::error_code ignored;
  if (std::filesystem::is_directory(carved, ignored) && !std::filesystem::exists(carved + "/carve_manifest.json", ignored)) {
    fail_input("no carve_manifest.json: this was not carved", {.file = carved},
               "the source comes first: kvfit carve verify SRC DST");
  }
  if (alone && (options.full || !options.hashes)) {
    fail_input("without the source only hashes can be compared", {}, "kvfit carve verify SRC DST");
  }
  carve::VerifyReport report;
  {
    CarveProgress progress(console, false);
    options.progress = [&progress](std::int64_t done) { progress({"checking", done, 0}); };
    report = alone ? carve::verify_alone(carved, options.progress) : carve::verify_carve(places[0], carved, options);
  }
  deliver(args, console, verify_listing(report, alone, options.full));
  return report.wrong.empty() ? kYes : kNo;
}

int compare(const Args& args, const Console& console) {
  const std::string source = paths(args, 1, "kvfit carve compare SRC --keep K --score A,B").front();
  const std::string scores = args.text("score").value_or("kirigami,random");
  const std::size_t comma = scores.find(',');
  if (comma == std::string::npos)
    fail_input(format("'--score {}' names one score", printable(scores)), {}, "two, as in kirigami,random");
  carve::Request request = carve_request(args, source);
  request.keep = carve_keep(args, console, request);
  const carve::Checkpoint checkpoint = carve::open_checkpoint(request);
  CarveProgress progress(console, false);
  const auto tell = [&progress](std::int64_t done) { progress({"scoring", done, 0}); };
  const carve::Selection a =
      carve::choose_by(carve::parse_score(std::string_view(scores).substr(0, comma)), checkpoint, request, tell);
  const carve::Selection b =
      carve::choose_by(carve::parse_score(std::string_view(scores).substr(comma + 1)), checkpoint, request, tell);
  deliver(args, console, compare_listing(checkpoint, a, b, scores.substr(0, comma), scores.substr(comma + 1)));
  return kYes;
}

}  // namespace

int carve_command(const Args& args, const Console& console) {
  const std::string word = args.words.empty() ? "" : args.words.front();
  if (word == "inspect") return inspect(args, console);
  if (word == "plan") return plan(args, console);
  if (word == "run") return run(args, console);
  if (word == "verify") return verify(args, console);
  if (word == "compare") return compare(args, console);
  if (word == "job") return carve_job(args, console);
  if (word == "merge") return carve_merge(args, console);
  if (word == "launch") return carve_launch(args, console);
  if (word.empty())
    fail_input("kvfit carve needs to be told what to do", {}, format("one of {}", profiles::join(kWords, ", ")));
  unknown_word(args, kWords);
}

}  // namespace kvfit::cli
