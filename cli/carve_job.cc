#include "cli/carve_job.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "carve/job.h"
#include "carve/launch.h"
#include "cli/carve_progress.h"
#include "cli/carve_request.h"
#include "cli/commands.h"
#include "cli/listing.h"
#include "cli/output.h"
#include "cli/version.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {
namespace {

using profiles::fail_input;
using profiles::format;

std::string job_path(const Args& args) {
  const std::optional<std::string> path = args.text("job");
  if (!path) fail_input("which job?", {}, "--job FILE, as kvfit carve job wrote it");
  return *path;
}

// What a job was made with; a part that were told otherwise would write something else.
constexpr std::array<std::string_view, 20> kOfTheJob = {"keep",
                                                        "fit",
                                                        "gpu",
                                                        "score",
                                                        "combine",
                                                        "score-file",
                                                        "fill",
                                                        "seed",
                                                        "mtp",
                                                        "reshard",
                                                        "drop",
                                                        "protect",
                                                        "ep-size",
                                                        "hash-remap",
                                                        "tr3-drop-manifest",
                                                        "force-count",
                                                        "allow-unknown",
                                                        "keep-patterns",
                                                        "include-orphans",
                                                        "canonical-pad"};

carve::Job open_job(const Args& args) {
  for (const std::string_view flag : kOfTheJob) {
    if (args.has(flag)) fail_input(format("the job says what is carved: --{} goes to kvfit carve job", flag));
  }
  const std::string path = job_path(args);
  return carve::read_job(profiles::parse_json(profiles::read_text_file(path, std::int64_t{256} << 20), path));
}

void no_words(const Args& args) {
  if (args.words.size() > 1) fail_input(format("the job names the places; '{}' is one word too many", args.words[1]));
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace

bool shows_progress(const Args& args) {
  return args.toggle("progress").value_or(true) && !args.toggle("quiet").value_or(false);
}

carve::RunOptions carve_run_options(const Args& args) {
  carve::RunOptions out;
  out.version = version_number();
  if (args.toggle("timestamp").value_or(false)) out.timestamp = now_text();
  out.threads = static_cast<int>(args.integer("threads").value_or(0));
  if (const std::optional<profiles::Bytes> cap = args.size("memory")) out.memory = std::max<std::int64_t>(1, cap->count);
  out.direct = args.toggle("direct").value_or(false);
  out.share = args.text("reflink").value_or("auto") != "never";
  out.must_share = args.text("reflink").value_or("auto") == "always";
  out.restart = args.toggle("restart").value_or(false);
  out.hash = args.toggle("hash").value_or(false);
  out.full_check = args.toggle("full").value_or(false);
  return out;
}

int deliver_run(const Args& args, const Console& console, const carve::RunReport& report, const std::string& heading) {
  for (const std::string& finding : report.findings) console.note(printable(finding));
  Listing listing{.schema = "kvfit.carve_run"};
  listing.value["files"] = report.files;
  listing.value["bytes"] = report.bytes;
  listing.value["resumed_files"] = report.resumed;
  listing.value["shared_bytes"] = report.shared_bytes;
  listing.value["findings"] = report.findings;
  listing.heading = format("{}: {} file{}, {} bytes", printable(heading), report.files, report.files == 1 ? "" : "s",
                           profiles::grouped(report.bytes));
  if (report.shared_bytes > 0) {
    listing.heading += format(", {} of them shared with the source", profiles::grouped(report.shared_bytes));
  }
  if (report.resumed > 0) listing.heading += format("; {} files were there already", report.resumed);
  listing.heading += "\n";
  deliver(args, console, listing);
  return kYes;
}

void carve_planned(const Args& args, const Console& console, std::int64_t keep, std::int64_t of,
                   const std::string& destination) {
  const std::string source = args.text("model").value_or("");
  std::error_code ignored;
  if (!std::filesystem::is_directory(source, ignored)) {
    fail_input("--carve-to needs the checkpoint itself", {}, "--model DIRECTORY, with its safetensors files");
  }
  if (keep <= 0 || keep == of) fail_input("the plan keeps all experts: there is nothing to carve");
  carve::Request request;
  request.source = source;
  request.keep = keep;
  carve::RunOptions options;
  options.version = version_number();
  options.destination = destination;
  carve::RunReport report;
  {
    CarveProgress progress(console, !args.toggle("quiet").value_or(false));
    options.progress = [&progress](const carve::Progress& now) { progress(now); };
    report = carve::run_carve(request, options);
  }
  for (const std::string& finding : report.findings) console.note(printable(finding));
  console.note(format("wrote {} with {} of {} experts: {} files, {} bytes", printable(destination), keep, of, report.files,
                      profiles::grouped(report.bytes)));
}

int carve_job(const Args& args, const Console& console) {
  if (args.words.size() != 3)
    fail_input("'job' takes two paths", {}, "kvfit carve job SRC DST --keep K --parts N -o job.json");
  carve::Request request = carve_request(args, args.words[1]);
  request.keep = carve_keep(args, console, request);
  const int parts = static_cast<int>(args.integer("parts").value_or(4));
  CarveProgress progress(console, false);
  const carve::Job job = carve::make_job(request, args.words[2], parts, version_number(),
                                         [&progress](std::int64_t done) { progress({"scoring", done, 0}); });
  deliver(args, console, "json", "json", [&job](std::string_view, const Screen&) { return carve::job_text(job); });
  return kYes;
}

int carve_part(const Args& args, const Console& console) {
  no_words(args);
  const carve::Job job = open_job(args);
  const std::size_t part = carve::part_number(args.text("part").value_or("auto"), job.parts.size(), process_environment());
  carve::RunOptions options = carve_run_options(args);
  carve::RunReport report;
  {
    CarveProgress progress(console, shows_progress(args));
    options.progress = [&progress](const carve::Progress& now) { progress(now); };
    report = carve::run_part(job, part, options);
  }
  return deliver_run(args, console, report, format("part {} of {}", part, job.parts.size()));
}

int carve_merge(const Args& args, const Console& console) {
  no_words(args);
  const carve::Job job = open_job(args);
  carve::RunOptions options = carve_run_options(args);
  carve::RunReport report;
  {
    CarveProgress progress(console, shows_progress(args));
    options.progress = [&progress](const carve::Progress& now) { progress(now); };
    report = carve::merge_job(job, options);
  }
  return deliver_run(args, console, report, job.destination);
}

int carve_launch(const Args& args, const Console& console) {
  no_words(args);
  const carve::Job job = open_job(args);
  carve::LaunchOptions options;
  options.job_file = job_path(args);
  options.program = args.text("program").value_or("kvfit");
  options.at_once = static_cast<int>(args.integer("at-once").value_or(4));
  options.image = args.text("image").value_or("");
  options.claim = args.text("claim").value_or("");
  options.mount = args.text("mount").value_or("/data");
  const std::string with = args.text("with").value_or("parallel");
  // A script may be started from anywhere; inside a pod the path is the image's.
  if (with != "kubernetes") options.job_file = std::filesystem::absolute(options.job_file).lexically_normal().string();
  if (with == "kubernetes" && (options.image.empty() || options.claim.empty())) {
    fail_input("Kubernetes needs an image that holds kvfit and a claim that holds the files", {},
               "--image IMAGE --claim NAME");
  }
  deliver(args, console, "text", "text", [&](std::string_view, const Screen&) {
    if (with == "slurm") return carve::slurm_script(job, options);
    return with == "kubernetes" ? carve::kubernetes_manifest(job, options) : carve::parallel_script(job, options);
  });
  return kYes;
}

}  // namespace kvfit::cli
