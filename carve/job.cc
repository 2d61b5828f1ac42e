#include "carve/job.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "carve/copy_buffers.h"
#include "carve/digest.h"
#include "carve/request_json.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

namespace fs = std::filesystem;
using profiles::fail_input;
using profiles::format;
using profiles::Json;

constexpr std::string_view kFormat = "kvfit.carve_job/1";
constexpr std::array<std::string_view, 6> kNumbers = {
    "KVFIT_PART", "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};

std::vector<std::vector<std::string>> deal(const CarvePlan& plan, int parts) {
  std::vector<std::size_t> order(plan.outputs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&plan](std::size_t a, std::size_t b) { return plan.outputs[a].bytes > plan.outputs[b].bytes; });
  const std::size_t count = std::min<std::size_t>(static_cast<std::size_t>(std::max(1, parts)), order.size());
  std::vector<std::vector<std::string>> out(count);
  std::vector<std::int64_t> bytes(count);
  for (const std::size_t i : order) {
    const std::size_t least = static_cast<std::size_t>(std::min_element(bytes.begin(), bytes.end()) - bytes.begin());
    out[least].push_back(plan.outputs[i].name);
    bytes[least] += plan.outputs[i].bytes;
  }
  for (std::vector<std::string>& part : out) std::sort(part.begin(), part.end());
  return out;
}

// The job's plan, proved to be of the same source, options and kvfit.
CarvePlan plan_of(const Job& job, std::string_view version) {
  if (job.version != version) {
    fail_input(format("kvfit {} made this job, this is kvfit {}", job.version, version), {}, "all parts need one version");
  }
  Checkpoint checkpoint = open_checkpoint(job.request);
  Record record = read_record(profiles::parse_json(job.record.dump(), "the job's record"), checkpoint.layout);
  if (record.request_digest != digest_of(checkpoint, job.request, version)) {
    fail_input("the source is not the one the job was made from", {.file = job.request.source}, "make the job again");
  }
  return plan_carve(job.request, std::move(checkpoint), std::move(record));
}

// What a receipt of this part says: written the same way each time, so that it is compared as a text.
std::string receipt(const CarvePlan& plan, const std::vector<std::size_t>& which, std::size_t part) {
  Json out{{"format", "kvfit.carve_receipt/1"}, {"part", part}, {"request_sha256", plan.record.request_digest}};
  out["outputs"] = Json::array();
  for (const std::size_t i : which) {
    const std::string head = plan.shard(plan.outputs[i]).head;
    out["outputs"].push_back({{"name", plan.outputs[i].name},
                              {"bytes", plan.outputs[i].bytes},
                              {"header_sha256", sha256_hex(std::string_view(head).substr(8))}});
  }
  return out.dump(1) + "\n";
}

bool receipt_holds(const CarvePlan& plan, const std::vector<std::size_t>& which, std::size_t part,
                   const WorkingDirectory& directory) {
  const std::string path = directory.receipt(part);
  std::error_code error;
  if (!fs::is_regular_file(path, error) || profiles::read_text_file(path) != receipt(plan, which, part)) return false;
  return std::all_of(which.begin(), which.end(), [&](std::size_t i) {
    return static_cast<std::int64_t>(fs::file_size(directory / plan.outputs[i].name, error)) == plan.outputs[i].bytes;
  });
}

std::vector<std::size_t> members(const CarvePlan& plan, const Job& job, std::size_t part) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    const std::vector<std::string>& names = job.parts[part];
    if (std::find(names.begin(), names.end(), plan.outputs[i].name) != names.end()) out.push_back(i);
  }
  if (out.size() != job.parts[part].size()) fail_input("the job names files that the carve does not make");
  return out;
}

// Parts agree on the state that the first of them wrote.
void share_state(const Job& job, const CarvePlan& plan, const WorkingDirectory& directory) {
  const std::string text = job.record.dump(1) + "\n";
  const std::optional<std::string> state = directory.state();
  if (!state) {
    directory.save_state(text);
  } else if (profiles::parse_json(*state, directory.state_path()).at("request_sha256").string() !=
             plan.record.request_digest) {
    fail_input("another carve left this directory", {.file = directory.path()}, "remove it and run the parts again");
  }
}

std::optional<std::size_t> number(std::string_view text) {
  std::size_t out = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, out);
  return error == std::errc() && at == end ? std::optional(out) : std::nullopt;
}

}  // namespace

Job make_job(const Request& request, const std::string& destination, int parts, std::string_view version,
             const std::function<void(std::int64_t)>& score_progress) {
  Job out;
  out.request = request;
  out.request.source = fs::absolute(request.source).lexically_normal().string();
  if (!request.score_file.empty()) out.request.score_file = fs::absolute(request.score_file).lexically_normal().string();
  out.destination = fs::absolute(destination).lexically_normal().string();
  out.version = version;
  const CarvePlan plan = plan_carve(out.request, version, score_progress);
  out.record = to_json(plan.record);
  out.parts = deal(plan, parts);
  return out;
}

std::string job_text(const Job& job) {
  const Json out{{"format", kFormat},
                 {"kvfit_version", job.version},
                 {"source", job.request.source},
                 {"destination", job.destination},
                 {"request", to_json(job.request)},
                 {"parts", job.parts},
                 {"record", job.record}};
  return out.dump(1) + "\n";
}

Job read_job(const profiles::Node& node) {
  if (node.at("format").string() != kFormat)
    node.at("format").fail("this is no job of a carve", format("expected {}", kFormat));
  Job out;
  out.version = node.at("kvfit_version").string();
  out.request = read_request(node.at("request"), node.at("source").string());
  out.destination = node.at("destination").string();
  for (const profiles::Node& part : node.at("parts").list()) {
    std::vector<std::string>& names = out.parts.emplace_back();
    for (const profiles::Node& name : part.list()) names.push_back(name.string());
  }
  if (out.parts.empty()) node.at("parts").fail("the job has no parts");
  const profiles::Node& record = node.at("record");
  out.record = Json{{"format", record.at("format").string()}, {"request_sha256", record.at("request_sha256").string()}};
  out.record["blocks"] = blocks_json(record.at("blocks"));
  return out;
}

RunReport run_part(const Job& job, std::size_t part, const RunOptions& options) {
  const CarvePlan plan = plan_of(job, options.version);
  check_memory({options.threads, options.memory, options.direct});
  const std::vector<std::size_t> which = members(plan, job, part);
  const WorkingDirectory directory(job.destination, plan.checkpoint.source.files.directory, false, true);
  share_state(job, plan, directory);
  RunReport report;
  if (receipt_holds(plan, which, part, directory)) {
    report.resumed = static_cast<std::int64_t>(which.size());
    report.files = report.resumed;
    return report;
  }
  write_outputs(plan, directory, which, options, report);
  check_unchanged(plan.checkpoint.source);
  write_whole(directory.receipt(part), receipt(plan, which, part));
  sync_directory(fs::path(directory.receipt(part)).parent_path().string());
  return report;
}

RunReport merge_job(const Job& job, const RunOptions& options) {
  const CarvePlan plan = plan_of(job, options.version);
  check_memory({options.threads, options.memory, options.direct});
  WorkingDirectory directory(job.destination, plan.checkpoint.source.files.directory, false, false);
  std::vector<std::size_t> missing;
  for (std::size_t part = 0; part < job.parts.size(); ++part) {
    if (!receipt_holds(plan, members(plan, job, part), part, directory)) missing.push_back(part);
  }
  if (!missing.empty()) {
    fail_input(format("these parts have not been written: {}", profiles::join(missing, ", ")), {.file = directory.path()},
               "run them, then merge again");
  }
  RunReport report;
  report.files = static_cast<std::int64_t>(plan.outputs.size());
  report.bytes = plan.bytes_out();
  finish_carve(plan, directory, options, report);
  return report;
}

std::size_t part_number(std::string_view text, std::size_t parts,
                        const std::function<std::optional<std::string>(std::string_view)>& environment) {
  std::string found(text.substr(0, text.find('/')));
  std::string where = format("--part {}", text);
  if (text == "auto") {
    found.clear();
    for (const std::string_view name : kNumbers) {
      const std::optional<std::string> value = environment(name);
      if (!value) continue;
      found = *value;
      where = format("{}={}", name, *value);
      break;
    }
    if (found.empty())
      fail_input("--part auto finds no number", {}, format("set one of {}", profiles::join(kNumbers, ", ")));
  } else if (const std::size_t slash = text.find('/'); slash != text.npos && number(text.substr(slash + 1)) != parts) {
    fail_input(format("'{}': the job has {} parts", where, parts));
  }
  const std::optional<std::size_t> part = number(found);
  if (!part || *part >= parts) fail_input(format("'{}' is no part of 0 to {}", where, parts - 1));
  return *part;
}

}  // namespace kvfit::carve
