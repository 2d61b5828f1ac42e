#include "carve/verify.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "carve/digest.h"
#include "carve/request_json.h"
#include "models/file_bytes.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::carve {
namespace {

namespace fs = std::filesystem;
using profiles::format;

constexpr std::int64_t kPiece = 4 * profiles::kMiB;

class Verifier {
 public:
  Verifier(const CarvePlan& plan, const std::string& directory, bool full, const std::function<void(std::int64_t)>& progress)
      : plan_(plan), directory_(directory), full_(full), progress_(progress) {}

  std::vector<std::string> run() {
    for (const OutputFile& file : plan_.outputs) shard(file);
    for (const TextFile& file : plan_.rewriting.files) text(file.name, file.text);
    if (plan_.checkpoint.source.indexed) {
      text("model.safetensors.index.json", plan_.index());
    }
    strangers();
    return std::move(wrong_);
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
    if (full_) bytes(file, planned, output);
  }

  void bytes(const OutputFile& file, const OutputShard& planned, const models::FileBytes& output) {
    const models::FileBytes source(plan_.checkpoint.source.shards[static_cast<std::size_t>(file.shard)].path);
    std::vector<char> ours;
    std::vector<char> theirs;
    for (const Run& run : planned.runs) {
      const ExpertTable* const table = run.table < 0 ? nullptr : &plan_.tables.at(run.table);
      const std::int64_t step = table ? table->piece_bytes() : kPiece;
      ours.resize(static_cast<std::size_t>(step));
      theirs.resize(ours.size());
      for (std::int64_t done = 0; done < run.bytes; done += step) {
        const std::size_t size = static_cast<std::size_t>(std::min(step, run.bytes - done));
        const std::span<char> a = std::span(ours).first(size);
        const std::span<char> b = std::span(theirs).first(size);
        output.read(a, run.target + done);
        source.read(b, run.source + done);
        if (table) table->rewrite(b);
        const auto differ = std::mismatch(a.begin(), a.end(), b.begin());
        if (differ.first != a.end()) {
          return wrong(file.name,
                       format("differs from the source at byte {}", run.target + done + (differ.first - a.begin())));
        }
        compared_ += static_cast<std::int64_t>(size);
        if (progress_) progress_(compared_);
      }
    }
  }

  void text(const std::string& name, const std::string& planned) {
    std::error_code error;
    if (!fs::is_regular_file(at(name), error)) return wrong(name, "is missing");
    if (profiles::read_text_file(at(name), std::int64_t{256} << 20) != planned) wrong(name, "has another content");
  }

  // Weights that no plan knows would be loaded all the same.
  void strangers() {
    std::error_code error;
    for (fs::directory_iterator it(directory_, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      const bool planned = std::any_of(plan_.outputs.begin(), plan_.outputs.end(),
                                       [&name](const OutputFile& file) { return file.name == name; });
      if (name.ends_with(".safetensors") && !planned) wrong(name, "belongs to no part of the carve");
    }
  }

  void wrong(const std::string& name, const std::string& what) { wrong_.push_back(format("{} {}", name, what)); }

  const CarvePlan& plan_;
  const std::string& directory_;
  bool full_;
  const std::function<void(std::int64_t)>& progress_;
  std::vector<std::string> wrong_;
  std::int64_t compared_ = 0;
};

}  // namespace

std::vector<std::string> verify_files(const CarvePlan& plan, const std::string& directory, bool full,
                                      const std::function<void(std::int64_t)>& progress) {
  return Verifier(plan, directory, full, progress).run();
}

std::vector<std::string> verify_carve(const std::string& source, const std::string& destination, bool full,
                                      const std::function<void(std::int64_t)>& progress) {
  const std::string path = destination + "/carve_manifest.json";
  const profiles::Node root = profiles::parse_json(profiles::read_text_file(path), path);
  Request request = read_request(root.at("request"), source);
  Checkpoint checkpoint = open_checkpoint(request);
  if (root.at("source").at("config_sha256").string() != sha256_hex(checkpoint.source.config)) {
    root.at("source").fail("the carve was made from another checkpoint");
  }
  // Only the kept sets count here; the rest of a record is for reports.
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
  const CarvePlan plan = plan_carve(std::move(request), std::move(checkpoint), std::move(record));
  return verify_files(plan, destination, full, progress);
}

}  // namespace kvfit::carve
