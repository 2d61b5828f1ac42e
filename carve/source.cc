#include "carve/source.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "carve/digest.h"
#include "models/file_bytes.h"
#include "models/header_scanner.h"
#include "models/name_table.h"
#include "models/safetensors_index.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::carve {
namespace {

namespace fs = std::filesystem;
using models::printable;
using profiles::fail_input;
using profiles::format;

constexpr std::int64_t kMostTensors = 1'000'000;

// The header once more as it was written: the parser decodes names in place, but __metadata__ is kept to the byte.
void keep_written_header(Shard& shard) {
  const std::size_t size = shard.header.text.size();
  std::vector<char> written(size);
  models::FileBytes(shard.path).read(written, 8);
  shard.header_sha256 = sha256_hex(std::string_view(written.data(), size));
  if (shard.header.metadata.empty() &&
      std::string_view(written.data(), size).find("__metadata__") == std::string_view::npos) {
    return;
  }
  models::HeaderScanner scan(written, shard.path);  // decodes in place: the value is read again as it was written
  bool first = true;
  scan.expect('{');
  while (scan.next(first, '}')) {
    const bool found = scan.string() == "__metadata__";
    scan.expect(':');
    const std::string_view value = scan.skip_value();
    if (!found) continue;
    shard.metadata.resize(value.size());
    models::FileBytes(shard.path).read(shard.metadata, 8 + (value.data() - written.data()));
    return;
  }
}

Shard open_shard(const std::string& path) {
  Shard shard;
  shard.path = path;
  shard.name = fs::path(path).filename().string();
  shard.identity = identify(path);
  shard.header = models::read_safetensors_header(path);
  keep_written_header(shard);
  shard.order.resize(shard.header.tensors.size());
  std::iota(shard.order.begin(), shard.order.end(), 0U);
  std::stable_sort(shard.order.begin(), shard.order.end(), [&shard](std::uint32_t a, std::uint32_t b) {
    const models::HeaderTensor& x = shard.header.tensors[a];
    const models::HeaderTensor& y = shard.header.tensors[b];
    return x.begin != y.begin ? x.begin < y.begin : x.end < y.end;
  });
  return shard;
}

bool routed(std::string_view name) {
  return name.find(".experts.") != std::string_view::npos || name.ends_with(".gate.weight") ||
         name.ends_with(".router.weight");
}

void refuse_routed_orphan(const std::string& path) {
  const models::SafetensorsHeader header = models::read_safetensors_header(path);
  for (const models::HeaderTensor& tensor : header.tensors) {
    if (!routed(tensor.name)) continue;
    fail_input(format("the index does not name this file, and it holds '{}'", printable(tensor.name)), {.file = path},
               "engines skip it; --include-orphans carves it too, or move it away");
  }
}

// Every tensor of every file by its name. A table of positions: a general map would take more memory than the headers.
class Names {
 public:
  explicit Names(const Source& source) : source_(source), table_(static_cast<std::size_t>(source.tensor_count())) {
    std::uint32_t at = 0;
    for (const Shard& shard : source.shards) {
      first_.push_back(at);
      for (const models::HeaderTensor& tensor : shard.header.tensors) add(tensor.name, at++, shard);
    }
    size_ = at;
  }

  std::size_t size() const { return size_; }
  bool contains(std::string_view name) const { return find(name).has_value(); }

 private:
  const Shard& shard_of(std::uint32_t position) const {
    const std::ptrdiff_t after = std::upper_bound(first_.begin(), first_.end(), position) - first_.begin();
    return source_.shards[static_cast<std::size_t>(after - 1)];
  }
  std::string_view name_at(std::uint32_t position) const {
    const Shard& shard = shard_of(position);
    return shard.header.tensors[position - first_[static_cast<std::size_t>(&shard - source_.shards.data())]].name;
  }
  std::optional<std::uint32_t> find(std::string_view name) const {
    return table_.find(name, [this](std::uint32_t i) { return name_at(i); });
  }
  void add(std::string_view name, std::uint32_t position, const Shard& shard) {
    if (table_.insert(name, position, [this](std::uint32_t i) { return name_at(i); })) return;
    fail_input(format("the tensor '{}' is in this file and in {}", printable(name), shard_of(*find(name)).name),
               {.file = shard.path});
  }

  const Source& source_;
  models::NameTable table_;
  std::vector<std::uint32_t> first_;  ///< position of each file's first tensor
  std::size_t size_ = 0;
};

// "total_parameters": 123, wherever it stands.
std::optional<std::int64_t> stated_parameters(std::string_view index) {
  constexpr std::string_view kKey = "\"total_parameters\"";
  std::size_t at = index.find(kKey);
  if (at == index.npos) return std::nullopt;
  at = index.find_first_of("0123456789", at + kKey.size());
  std::int64_t out = -1;
  if (at != index.npos) std::from_chars(index.data() + at, index.data() + index.size(), out);
  return out;
}

void compare_index(Source& source, const Names& names, bool ignore_dangling) {
  const models::SafetensorsIndex index = models::read_safetensors_index(source.files.index);
  std::size_t dangling = 0;
  std::string_view first;
  for (const models::SafetensorsIndex::Entry& entry : index.entries) {
    if (names.contains(entry.tensor)) continue;
    if (dangling++ == 0) first = entry.tensor;
  }
  if (dangling > 0 && !ignore_dangling) {
    fail_input(format("the index names {} tensors that no file holds, '{}' first", dangling, printable(first)),
               {.file = source.files.index}, "fetch the missing files, or say --ignore-dangling");
  }
  if (dangling > 0) source.findings.push_back(format("{} entries of the index name no tensor and are left out", dangling));
  if (index.entries.size() - dangling < names.size()) {
    source.findings.push_back(format("the index lacks {} tensors that the files hold; the new one names them",
                                     names.size() - (index.entries.size() - dangling)));
  }
  const std::optional<std::int64_t> parameters = stated_parameters({index.text.data(), index.text.size()});
  source.counts_parameters = parameters && *parameters == source.elements();
  if (parameters && !source.counts_parameters) {
    source.findings.push_back(format("the index states {} total_parameters, the tensors hold {} elements: left out",
                                     *parameters, source.elements()));
  }
  if (index.total_size && *index.total_size != source.tensor_bytes()) {
    source.findings.push_back(
        format("the index claims {} bytes of tensors, the headers hold {}", *index.total_size, source.tensor_bytes()));
  }
}

}  // namespace

FileIdentity identify(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    profiles::fail_environment(format("cannot look at the file: {}", std::strerror(errno)), {.file = path});
  }
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .bytes = status.st_size,
          .modified_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
}

std::int64_t Source::tensor_count() const {
  std::int64_t out = 0;
  for (const Shard& shard : shards) out += static_cast<std::int64_t>(shard.header.tensors.size());
  return out;
}

std::int64_t Source::tensor_bytes() const {
  std::int64_t out = 0;
  for (const Shard& shard : shards) out += shard.header.file_bytes - shard.header.data_begin();
  return out;
}

std::int64_t elements_of(std::span<const std::int64_t> shape) {
  std::int64_t out = 1;
  for (const std::int64_t extent : shape) out = profiles::checked_mul(out, extent);
  return out;
}

std::int64_t Source::elements() const {
  std::int64_t out = 0;
  for (const Shard& shard : shards) {
    for (const models::HeaderTensor& tensor : shard.header.tensors) out += elements_of(shard.header.shape(tensor));
  }
  return out;
}

Source open_source(const std::string& path, const SourceOptions& options) {
  Source out;
  out.files = models::find_checkpoint(path);
  std::error_code ignored;
  const fs::path directory = fs::path(path).parent_path();
  if (path.ends_with(".safetensors") && fs::exists(directory / "model.safetensors.index.json", ignored)) {
    fail_input("this is one file of a checkpoint", {.file = path}, "a carve needs all of them: give the directory");
  }
  if (out.files.config.empty()) {
    fail_input("there is no config.json beside the weights", {.file = out.files.directory},
               "a carve must change the expert count there; give the whole model directory");
  }
  std::vector<std::string> files = out.files.files;
  for (const std::string& orphan : out.files.orphans) {
    const bool copy = fs::path(orphan).filename().string().starts_with("consolidated");
    if (options.include_orphans && !copy) {
      files.push_back(orphan);
    } else if (!copy) {
      refuse_routed_orphan(orphan);
      out.findings.push_back(format("{} is not in the index and is left out", fs::path(orphan).filename().string()));
    }
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    out.shards.push_back(open_shard(file));
    if (out.tensor_count() > kMostTensors) fail_input(format("more than {} tensors", kMostTensors), {.file = file});
  }
  out.config_path = out.files.config;
  out.config_identity = identify(out.config_path);
  out.config = profiles::read_text_file(out.config_path);
  out.indexed = !out.files.index.empty();
  const Names names(out);
  if (out.indexed) compare_index(out, names, options.ignore_dangling);
  return out;
}

void check_unchanged(const Source& source) {
  const auto check = [](const std::string& path, const FileIdentity& then) {
    if (identify(path) == then) return;
    profiles::fail_environment("the source changed while it was carved", {.file = path},
                               "start again with --restart once nothing writes to it");
  };
  for (const Shard& shard : source.shards) check(shard.path, shard.identity);
  check(source.config_path, source.config_identity);
}

}  // namespace kvfit::carve
