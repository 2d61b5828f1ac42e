#include "models/checkpoint.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "models/file_bytes.h"
#include "models/safetensors_index.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

namespace fs = std::filesystem;
using profiles::fail_input;
using profiles::format;

constexpr std::string_view kIndexName = "model.safetensors.index.json";
constexpr std::string_view kWeights = ".safetensors";
constexpr std::size_t kMaxFiles = 100'000;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::string if_file(const fs::path& path) { return is_file(path) ? path.string() : std::string(); }

// Entries of a directory, sorted by name.
std::vector<fs::path> entries(const fs::path& directory) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    out.push_back(it->path());
    if (out.size() > kMaxFiles) fail_input("the directory has too many entries", {.file = directory.string()});
  }
  if (error)
    profiles::fail_environment(format("cannot list the directory: {}", error.message()), {.file = directory.string()});
  std::sort(out.begin(), out.end());
  return out;
}

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

// The snapshot directory of `models--ORG--NAME`: what refs/main points to, else the only one there is.
fs::path snapshot_of(const fs::path& repository) {
  const fs::path snapshots = repository / "snapshots";
  const fs::path ref = repository / "refs" / "main";
  if (is_file(ref)) {
    const std::string revision = trimmed(profiles::read_text_file(ref.string(), 4096));
    const bool plain = !revision.empty() && revision.find('/') == std::string::npos && revision.front() != '.';
    if (!plain) fail_input("the reference holds no revision", {.file = ref.string()});
    if (is_folder(snapshots / revision)) return snapshots / revision;
    fail_input(format("the cache points to the revision {}, which is not there", revision), {.file = ref.string()},
               "download the model again");
  }
  std::vector<std::string> revisions;
  for (const fs::path& entry : entries(snapshots)) {
    if (is_folder(entry)) revisions.push_back(entry.filename().string());
  }
  if (revisions.size() == 1) return snapshots / revisions.front();
  if (revisions.empty()) fail_input("the cache holds no snapshot of this model", {.file = snapshots.string()});
  fail_input(format("the cache holds {} snapshots of this model and no refs/main", revisions.size()),
             {.file = snapshots.string()}, format("name one: {}", profiles::join(revisions, ", ")));
}

void add_sidecars(Checkpoint& out) {
  const fs::path directory(out.directory);
  out.config = if_file(directory / "config.json");
  out.quant_config = if_file(directory / "hf_quant_config.json");
  if (directory.parent_path().filename() == "snapshots") out.revision = directory.filename().string();
}

// Finds the directory a path stands for; a single weights file is kept in `files`.
Checkpoint locate(const std::string& given) {
  Checkpoint out;
  out.given = given;
  const fs::path path(given);
  if (is_file(path)) {
    out.directory = path.has_parent_path() ? path.parent_path().string() : ".";
    if (path.filename().string().ends_with(kWeights)) out.files.push_back(given);
    return out;
  }
  std::error_code ignored;
  if (!is_folder(path)) {
    const bool dangling = fs::is_symlink(fs::symlink_status(path, ignored));
    fail_input(dangling ? "the link leads nowhere" : "no such file or directory", {.file = given});
  }
  out.directory = is_folder(path / "snapshots") ? snapshot_of(path).string() : given;
  return out;
}

void check_shard(const fs::path& shard, const std::string& index) {
  if (is_file(shard)) return;
  std::error_code ignored;
  const bool dangling = fs::is_symlink(fs::symlink_status(shard, ignored));
  fail_input(format("the shard {} is missing{}", shard.filename().string(), dangling ? ": its link leads nowhere" : ""),
             {.file = index}, "the download is not complete; fetch the missing files");
}

void add_indexed(Checkpoint& out, const std::vector<fs::path>& weights) {
  const SafetensorsIndex index = read_safetensors_index(out.index);
  for (const std::string& name : index.files) {
    const fs::path shard = fs::path(out.directory) / name;
    check_shard(shard, out.index);
    out.files.push_back(shard.string());
  }
  std::sort(out.files.begin(), out.files.end());
  for (const fs::path& file : weights) {
    if (!std::binary_search(out.files.begin(), out.files.end(), file.string())) out.orphans.push_back(file.string());
  }
}

// Without an index every file counts, except Mistral's second copy of the weights beside the first.
void add_listed(Checkpoint& out, const std::vector<fs::path>& weights) {
  const auto is_copy = [](const fs::path& file) { return file.filename().string().starts_with("consolidated"); };
  const bool only_copies = std::all_of(weights.begin(), weights.end(), is_copy);
  for (const fs::path& file : weights) {
    (only_copies || !is_copy(file) ? out.files : out.orphans).push_back(file.string());
  }
}

}  // namespace

Checkpoint find_config(const std::string& path) {
  Checkpoint out = locate(path);
  add_sidecars(out);
  return out;
}

Checkpoint find_checkpoint(const std::string& path) {
  Checkpoint out = find_config(path);
  if (!out.files.empty()) return out;
  out.index = if_file(fs::path(out.directory) / kIndexName);
  std::vector<fs::path> weights;
  for (const fs::path& entry : entries(out.directory)) {
    if (entry.filename().string().ends_with(kWeights)) weights.push_back(entry);
  }
  if (!out.index.empty()) {
    add_indexed(out, weights);
  } else if (weights.empty()) {
    fail_input("no safetensors files here", {.file = out.directory}, "give a directory that holds *.safetensors");
  } else {
    add_listed(out, weights);
  }
  return out;
}

}  // namespace kvfit::models
