#include "carve/verify.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "carve/digest.h"
#include "carve/request_json.h"
#include "carve/tensor_hash.h"
#include "models/file_bytes.h"
#include "models/safetensors_header.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::carve {
namespace {

namespace fs = std::filesystem;
using profiles::format;

constexpr std::int64_t kPiece = 4 * profiles::kMiB;
constexpr std::int64_t kMostText = 256 * profiles::kMiB;
constexpr std::string_view kManifest = "carve_manifest.json";

std::vector<std::string> weights_in(const std::string& directory) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.ends_with(".safetensors")) out.push_back(std::move(name));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string name_of(const CarvePlan& plan, const OutputFile& file, std::size_t tensor) {
  std::string out;
  std::size_t at = 0;
  for_each_output_tensor(plan.survivors(), file.spans, [&](std::string name) {
    if (at++ == tensor) out = std::move(name);
  });
  return out;
}

std::string hash_differs(const std::string& file, std::string_view tensor) {
  return format("{}: the tensor '{}' has another hash than {} states", file, tensor, kManifest);
}

class Verifier {
 public:
  Verifier(const CarvePlan& plan, const std::string& directory, const StatedHashes& stated, const VerifyOptions& options)
      : plan_(plan), directory_(directory), stated_(stated), options_(options) {}

  VerifyReport run() {
    for (const OutputFile& file : plan_.outputs) shard(file);
    for (const TextFile& file : plan_.texts()) text(file.name, file.text);
    strangers();
    return std::move(report_);
  }

 private:
  std::string at(const std::string& name) const { return directory_ + "/" + name; }

  void shard(const OutputFile& file) {
    std::error_code error;
    if (!fs::is_regular_file(at(file.name), error)) return wrong(file.name, "is missing");
    const OutputShard planned = plan_.shard(file);
    const models::FileBytes output(at(file.name));
    if (output.size() != planned.bytes) {
      return wrong(file.name, format("has {} bytes, not {}", output.size(), planned.bytes));
    }
    std::string head(planned.head.size(), '\0');
    output.read(head, 0);
    if (head != planned.head) return wrong(file.name, "has another header");
    const std::int64_t begin = static_cast<std::int64_t>(head.size());
    const auto stated = stated_.find(file.name);
    const bool hashed = stated != stated_.end() && options_.hashes;
    if (options_.full) {
      TensorHasher hasher(begin, planned.ends);
      if (bytes(file, planned, output, hasher) && hashed) hashes(file, hasher.finish(), stated->second);
    } else if (hashed) {
      const auto tell = [this](std::int64_t more) { compared(more); };
      hashes(file, hash_tensors(output, begin, planned.ends, tell), stated->second);
    }
  }

  // Whether all bytes are the source's.
  bool bytes(const OutputFile& file, const OutputShard& planned, const models::FileBytes& output, TensorHasher& hasher) {
    std::optional<models::FileBytes> source;
    std::int32_t open = -1;
    std::vector<char> ours;
    std::vector<char> theirs;
    for (const Run& run : planned.runs) {
      if (run.shard != open) source.emplace(plan_.checkpoint.source.shards[static_cast<std::size_t>(run.shard)].path);
      open = run.shard;
      const ExpertTable* const table = run.table < 0 ? nullptr : &plan_.tables.at(run.table);
      const std::int64_t step = table ? table->piece_bytes() : kPiece;
      ours.resize(static_cast<std::size_t>(step));
      theirs.resize(ours.size());
      for (std::int64_t done = 0; done < run.bytes; done += step) {
        const std::size_t size = static_cast<std::size_t>(std::min(step, run.bytes - done));
        const std::span<char> a = std::span(ours).first(size);
        const std::span<char> b = std::span(theirs).first(size);
        output.read(a, run.target + done);
        source->read(b, run.source + done);
        if (table) table->rewrite(b);
        hasher.add(a);
        const auto differ = std::mismatch(a.begin(), a.end(), b.begin());
        if (differ.first != a.end()) {
          differs(file, planned, run.target + done + (differ.first - a.begin()));
          return false;
        }
        compared(static_cast<std::int64_t>(size));
      }
    }
    return true;
  }

  void differs(const OutputFile& file, const OutputShard& planned, std::int64_t at) {
    const auto end = std::upper_bound(planned.ends.begin(), planned.ends.end(), at);
    const std::string name = name_of(plan_, file, static_cast<std::size_t>(end - planned.ends.begin()));
    report_.wrong.push_back(
        format("{}: the tensor '{}' differs from the source at byte {} of the file", file.name, name, at));
  }

  void hashes(const OutputFile& file, const std::vector<TensorHash>& ours, const std::vector<TensorHash>& stated) {
    report_.hashed += static_cast<std::int64_t>(ours.size());
    if (ours.size() != stated.size())
      return wrong(file.name, format("has {} tensors, {} hashes are stated", ours.size(), stated.size()));
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (ours[i] != stated[i]) report_.wrong.push_back(hash_differs(file.name, name_of(plan_, file, i)));
    }
  }

  void text(const std::string& name, const std::string& planned) {
    std::error_code error;
    if (!fs::is_regular_file(at(name), error)) return wrong(name, "is missing");
    if (profiles::read_text_file(at(name), kMostText) != planned) wrong(name, "has another content");
  }

  // Weights that no plan knows would be loaded all the same.
  void strangers() {
    for (const std::string& name : weights_in(directory_)) {
      const bool planned = std::any_of(plan_.outputs.begin(), plan_.outputs.end(),
                                       [&name](const OutputFile& file) { return file.name == name; });
      if (!planned) wrong(name, "belongs to no part of the carve");
    }
  }

  void compared(std::int64_t bytes) {
    compared_ += bytes;
    if (options_.progress) options_.progress(compared_);
  }
  void wrong(const std::string& name, const std::string& what) { report_.wrong.push_back(format("{} {}", name, what)); }

  const CarvePlan& plan_;
  const std::string& directory_;
  const StatedHashes& stated_;
  const VerifyOptions& options_;
  VerifyReport report_;
  std::int64_t compared_ = 0;
};

}  // namespace

VerifyReport verify_files(const CarvePlan& plan, const std::string& directory, const StatedHashes& stated,
                          const VerifyOptions& options) {
  return Verifier(plan, directory, stated, options).run();
}

namespace {

profiles::Node read_manifest(const std::string& directory) {
  const std::string path = directory + "/" + std::string(kManifest);
  return profiles::parse_json(profiles::read_text_file(path, kMostText), path);
}

// By name, as the manifest lists them; empty when it states none for this output.
std::vector<std::pair<std::string, TensorHash>> stated_hashes(const profiles::Node& output) {
  std::vector<std::pair<std::string, TensorHash>> out;
  const profiles::Node* const hashes = output.find("tensor_xxh3_128");
  if (hashes == nullptr) return out;
  for (const auto& [name, value] : hashes->members()) {
    const std::optional<std::vector<TensorHash>> hash = read_hashes(value.string() + "\n", 1);
    if (!hash) value.fail("this is no hash of 32 digits");
    out.emplace_back(name, hash->front());
  }
  return out;
}

// Only the kept sets count here; the rest of a record is for reports.
Record recorded_choice(const profiles::Node& root, const Request& request, const Checkpoint& checkpoint) {
  Record record;
  record.blocks = profiles::Json::array();
  const std::vector<profiles::Node>& blocks = root.at("blocks").list();
  if (blocks.size() != checkpoint.layout.blocks.size())
    root.at("blocks").fail("it records other blocks than the source has");
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].at("prefix").string() != checkpoint.layout.blocks[b].prefix) blocks[b].fail("it records another block");
    std::vector<std::int32_t>& kept = record.kept.emplace_back();
    for (const profiles::Node& id : blocks[b].at("kept").list()) {
      const std::int64_t least = kept.empty() ? 0 : kept.back() + 1;
      kept.push_back(static_cast<std::int32_t>(id.integer(least, checkpoint.layout.experts - 1)));
    }
    if (static_cast<std::int64_t>(kept.size()) != request.keep) blocks[b].fail("it keeps another number of experts");
  }
  return record;
}

const std::string& plain_name(const profiles::Node& file) {
  const std::string& name = file.at("name").string();
  if (name.find('/') != name.npos || name.empty()) file.at("name").fail("this is no plain file name");
  return name;
}

// One output held against what the manifest says of it, by the header of the file itself.
void verify_output(const std::string& directory, const profiles::Node& output, const std::function<void(std::int64_t)>& tell,
                   VerifyReport& report) {
  const std::string& name = plain_name(output);
  const std::string path = directory + "/" + name;
  const auto wrong = [&report, &name](std::string_view what) { report.wrong.push_back(format("{} {}", name, what)); };
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return wrong("is missing");
  const models::FileBytes file(path);
  const std::int64_t bytes = output.at("bytes").integer();
  if (file.size() != bytes) return wrong(format("has {} bytes, not {}", file.size(), bytes));
  const models::SafetensorsHeader header = models::read_safetensors_header(path);
  std::string text(header.text.size(), '\0');
  file.read(text, 8);
  if (sha256_hex(text) != output.at("header_sha256").string()) return wrong("has another header");
  const std::vector<std::pair<std::string, TensorHash>> stated = stated_hashes(output);
  if (stated.empty()) return wrong(format("has no hashes in {}: it was not compared", kManifest));
  std::vector<std::int64_t> ends;
  for (const models::HeaderTensor& tensor : header.tensors) ends.push_back(header.data_begin() + tensor.end);
  const std::vector<TensorHash> ours = hash_tensors(file, header.data_begin(), ends, tell);
  if (ours.size() != stated.size()) {
    return wrong(format("has {} tensors, {} hashes are stated", ours.size(), stated.size()));
  }
  report.hashed += static_cast<std::int64_t>(ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (header.tensors[i].name != stated[i].first || ours[i] != stated[i].second) {
      report.wrong.push_back(hash_differs(name, header.tensors[i].name));
    }
  }
}

}  // namespace

VerifyReport verify_carve(const std::string& source, const std::string& destination, const VerifyOptions& options) {
  const profiles::Node root = read_manifest(destination);
  Request request = read_request(root.at("request"), source);
  Checkpoint checkpoint = open_checkpoint(request);
  if (root.at("source").at("config_sha256").string() != sha256_hex(checkpoint.source.config)) {
    root.at("source").fail("the carve was made from another checkpoint");
  }
  Record record = recorded_choice(root, request, checkpoint);
  const CarvePlan plan = plan_carve(std::move(request), std::move(checkpoint), std::move(record));
  StatedHashes stated;
  for (const profiles::Node& output : root.at("outputs").list()) {
    for (const auto& [name, hash] : stated_hashes(output)) stated[output.at("name").string()].push_back(hash);
  }
  return verify_files(plan, destination, stated, options);
}

VerifyReport verify_alone(const std::string& destination, const std::function<void(std::int64_t)>& progress) {
  const profiles::Node root = read_manifest(destination);
  const std::vector<profiles::Node>& outputs = root.at("outputs").list();
  if (std::none_of(outputs.begin(), outputs.end(), [](const profiles::Node& one) { return one.has("tensor_xxh3_128"); })) {
    root.at("outputs").fail("it states no hashes of tensors", "name the source too: kvfit carve verify SRC DST");
  }
  VerifyReport out;
  std::int64_t compared = 0;
  const auto tell = [&](std::int64_t bytes) {
    compared += bytes;
    if (progress) progress(compared);
  };
  std::set<std::string> known;
  for (const profiles::Node& output : outputs) {
    verify_output(destination, output, tell, out);
    known.insert(output.at("name").string());
  }
  for (const profiles::Node& text : root.at("texts").list()) {
    const std::string& name = plain_name(text);
    std::error_code error;
    if (!fs::is_regular_file(destination + "/" + name, error)) {
      out.wrong.push_back(format("{} is missing", name));
    } else if (sha256_of_file(destination + "/" + name) != text.at("sha256").string()) {
      out.wrong.push_back(format("{} has another content", name));
    }
  }
  for (const std::string& name : weights_in(destination)) {
    if (!known.contains(name)) out.wrong.push_back(format("{} belongs to no part of the carve", name));
  }
  return out;
}

}  // namespace kvfit::carve
