#include "carve/run.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "carve/copy_buffers.h"
#include "carve/digest.h"
#include "carve/tensor_hash.h"
#include "carve/transport.h"
#include "carve/verify.h"
#include "models/file_bytes.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/json.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::carve {
namespace {

namespace fs = std::filesystem;
using profiles::format;

// A whole shard that this very carve wrote: state.json vouches for the choice, size and header for the file.
bool finished(const OutputShard& shard, const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (!fs::is_regular_file(status) || static_cast<std::int64_t>(fs::file_size(path, error)) != shard.bytes) return false;
  std::string head(shard.head.size(), '\0');
  models::FileBytes(path).read(head, 0);
  return head == shard.head;
}

void remove_leftover(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) fail_io("remove", path, error.value());
}

// Before the file has its name, so that whatever is finished has its hashes; older ones are of a run that was killed.
void note_hashes(const std::vector<TensorHash>& hashes, const std::string& path) {
  remove_leftover(path);
  if (!hashes.empty()) write_whole(path, hashes_text(hashes));
}

void copy_file(const SideFile& file, const WorkingDirectory& directory) {
  const std::string target = directory / file.name;
  std::error_code error;
  fs::create_directories(fs::path(target).parent_path(), error);
  if (error) fail_io("create", fs::path(target).parent_path().string(), error.value());
  const models::FileBytes from(file.source);
  remove_leftover(target + ".part");
  NewFile to(target + ".part");
  std::vector<char> buffer(static_cast<std::size_t>(profiles::kMiB));
  for (std::int64_t at = 0; at < from.size(); at += profiles::kMiB) {
    const std::span<char> piece =
        std::span(buffer).first(static_cast<std::size_t>(std::min(profiles::kMiB, from.size() - at)));
    from.read(piece, at);
    to.write(piece, at);
  }
  to.publish(target);
}

// The record of an earlier run of the same request, or a new one that is written down before anything else.
Record settle_record(Checkpoint& checkpoint, const Request& request, const WorkingDirectory& directory,
                     const RunOptions& options, std::vector<std::string>& findings) {
  const std::string digest = digest_of(checkpoint, request, options.version);
  if (const std::optional<std::string> state = directory.state()) {
    const profiles::Node node = profiles::parse_json(*state, directory.state_path());
    if (node.at("request_sha256").string() != digest) {
      profiles::fail_input("another carve left this directory: other options, another source or another kvfit",
                           {.file = directory.path()}, "--restart wipes it and begins again");
    }
    return read_record(node, checkpoint.layout);
  }
  directory.wipe();
  std::int64_t total = score_cost(checkpoint.source, checkpoint.layout, request.score);
  if (request.second) total += score_cost(checkpoint.source, checkpoint.layout, *request.second);
  const Selection selection = choose_experts(checkpoint, request, [&](std::int64_t done) {
    if (options.progress) options.progress({"scoring", done, total});
  });
  findings.insert(findings.end(), selection.scores.findings.begin(), selection.scores.findings.end());
  Record record = make_record(checkpoint, selection, digest);
  directory.save_state(to_json(record).dump(1) + "\n");
  return record;
}

bool shares(const Source& source, const WorkingDirectory& directory, const RunOptions& options) {
  return options.share && !source.shards.empty() && can_share(source.shards.front().path, directory.path());
}

// What is known of the outputs' bytes. Copying has hashed the tensors; files whose bytes were shared are read on request.
std::vector<Digests> digest_outputs(const CarvePlan& plan, const WorkingDirectory& directory, const RunOptions& options) {
  const bool read = options.hash || !shares(plan.checkpoint.source, directory, options);
  std::vector<Digests> out;
  std::int64_t done = 0;
  const auto tell = [&](std::int64_t bytes) {
    done += bytes;
    if (options.progress) options.progress({"hashing", done, plan.bytes_out() * (options.hash ? 2 : 1)});
  };
  for (const OutputFile& file : plan.outputs) {
    Digests& digests = out.emplace_back();
    std::error_code ignored;
    const std::string noted = directory.hashes(file.name);
    if (fs::is_regular_file(fs::symlink_status(noted, ignored))) {
      const std::optional<std::vector<TensorHash>> hashes =
          read_hashes(profiles::read_text_file(noted), static_cast<std::size_t>(file.tensors));
      if (hashes) digests.tensors = *hashes;
    }
    if (!digests.tensors.empty()) done += file.bytes;
    if (digests.tensors.empty() && read && file.tensors > 0) {
      digests.tensors = hash_tensors(models::FileBytes(directory / file.name), file.head_bytes, plan.shard(file).ends, tell);
    }
    if (!options.hash) continue;
    digests.sha256 = sha256_of_file(directory / file.name);
    tell(file.bytes);
  }
  return out;
}

void check_room(std::int64_t need, const WorkingDirectory& directory) {
  need += need / 100;
  struct statvfs room = {};
  if (::statvfs(directory.path().c_str(), &room) != 0 || room.f_blocks == 0) return;  // 0: it does not say
  const std::int64_t have = static_cast<std::int64_t>(room.f_bavail) * static_cast<std::int64_t>(room.f_frsize);
  if (have >= need) return;
  profiles::fail_environment(
      format("{} bytes are to be written and {} are free", profiles::grouped(need), profiles::grouped(have)),
      {.file = directory.path()}, "make room, or name a destination on another disk");
}

// Of the outputs that are not there yet.
std::int64_t bytes_to_come(const CarvePlan& plan, const WorkingDirectory& directory, bool share) {
  std::int64_t out = 0;
  for (const OutputFile& file : plan.outputs) {
    std::error_code error;
    const bool there = static_cast<std::int64_t>(fs::file_size(directory / file.name, error)) == file.bytes && !error;
    if (!there) out += file.bytes - (share ? file.shareable_bytes : 0);
  }
  return out;
}

// All that can be refused before the choice is made, which may take minutes: edits do not depend on who stays.
void check_ahead(const Checkpoint& checkpoint, const Request& request, const WorkingDirectory& directory,
                 const RunOptions& options) {
  std::vector<std::int32_t> first(static_cast<std::size_t>(request.keep));
  std::iota(first.begin(), first.end(), 0);
  rewrite_texts(checkpoint, request, Kept(checkpoint.layout.blocks.size(), first));
  const bool share = shares(checkpoint.source, directory, options);
  if (options.must_share && !share) {
    profiles::fail_environment("this file system cannot share bytes with the source", {.file = directory.path()},
                               "--reflink auto copies them; xfs and btrfs share, within one file system");
  }
  if (directory.state() || share) return;
  check_room(tensor_bytes_at(checkpoint.source, checkpoint.layout, request.keep), directory);
}

}  // namespace

void write_outputs(const CarvePlan& plan, const WorkingDirectory& directory, const std::vector<std::size_t>& which,
                   const RunOptions& options, RunReport& report) {
  const Source& source = plan.checkpoint.source;
  const bool share = shares(source, directory, options);
  const bool direct = options.direct && !share;
  check_room(bytes_to_come(plan, directory, share), directory);
  const CopyBuffers buffers({options.threads, options.memory, direct});
  bool direct_refused = false;
  std::int64_t done = 0;
  std::int64_t total = 0;
  for (const std::size_t i : which) total += plan.outputs[i].bytes;
  const auto tell = [&](std::int64_t bytes) {
    done += bytes;
    if (options.progress) options.progress({"writing", done, total});
  };
  for (const std::size_t i : which) {
    const OutputFile& file = plan.outputs[i];
    const OutputShard shard = plan.shard(file);
    const std::string path = directory / file.name;
    report.files += 1;
    report.bytes += file.bytes;
    if (finished(shard, path)) {
      report.resumed += 1;
      tell(file.bytes);
      continue;
    }
    remove_leftover(path + ".part");
    NewFile part(path + ".part");
    const Written written = write_shard(shard, source, part, buffers, {share, direct, &plan.tables, tell});
    direct_refused = direct_refused || written.direct_refused;
    note_hashes(written.hashes, directory.hashes(file.name));
    part.publish(path);
    sync_directory(directory.files());
    if (share) report.shared_bytes += file.shareable_bytes;
  }
  if (direct_refused) {
    report.findings.push_back("the file system refuses direct reads or writes here: --direct went through the page cache");
  }
}

void finish_carve(const CarvePlan& plan, WorkingDirectory& directory, const RunOptions& options, RunReport& report) {
  for (const SideFile& file : plan.sides) copy_file(file, directory);
  for (const TextFile& file : plan.texts()) write_whole(directory / file.name, file.text);
  write_whole(directory / "README.md", model_card(plan.checkpoint, plan.request, plan.record));
  const std::vector<Digests> digests = digest_outputs(plan, directory, options);
  write_whole(directory / "carve_manifest.json", manifest(plan, options.version, digests, options.timestamp).dump(1) + "\n");
  const auto checking = [&](std::int64_t done) {
    if (options.progress) options.progress({"checking", done, plan.bytes_out()});
  };
  const std::vector<std::string> wrong =
      verify_files(plan, directory.files(), {}, {.hashes = false, .full = options.full_check, .progress = checking}).wrong;
  if (!wrong.empty()) {
    profiles::fail_environment(format("what was written is not what was planned: {}", wrong.front()),
                               {.file = directory.path()}, "the disk may be failing; --restart begins again");
  }
  check_unchanged(plan.checkpoint.source);
  directory.publish();
  report.findings.insert(report.findings.begin(), plan.findings.begin(), plan.findings.end());
}

RunReport run_carve(const Request& request, const RunOptions& options) {
  Checkpoint checkpoint = open_checkpoint(request);
  check_request(checkpoint, request);
  check_memory({options.threads, options.memory, options.direct});
  WorkingDirectory directory(options.destination, checkpoint.source.files.directory, options.restart, false);
  check_ahead(checkpoint, request, directory, options);
  std::vector<std::string> findings;
  Record record = settle_record(checkpoint, request, directory, options, findings);
  CarvePlan plan = plan_carve(request, std::move(checkpoint), std::move(record));
  plan.findings.insert(plan.findings.end(), findings.begin(), findings.end());
  std::vector<std::size_t> all(plan.outputs.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  RunReport report;
  write_outputs(plan, directory, all, options, report);
  finish_carve(plan, directory, options, report);
  return report;
}

}  // namespace kvfit::carve
