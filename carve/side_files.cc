#include "carve/side_files.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "carve/json_spans.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

namespace fs = std::filesystem;
using profiles::format;

constexpr std::array<std::string_view, 9> kWeights = {".safetensors", ".bin",     ".pt", ".pth", ".gguf",
                                                      ".onnx",        ".msgpack", ".h5", ".npz"};
constexpr std::array<std::string_view, 5> kLeftBehind = {"original", ".cache", ".git", "onnx", "__pycache__"};
constexpr std::array<std::string_view, 5> kRewritten = {"config.json", "EXL3_MANIFEST.json", "model.safetensors.index.json",
                                                        "carve_manifest.json", "pytorch_model.bin.index.json"};
constexpr std::size_t kMostFiles = 10'000;
constexpr int kDeepest = 8;

template <std::size_t N>
bool any_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_weights(const std::string& name) {
  return std::any_of(kWeights.begin(), kWeights.end(), [&name](std::string_view end) { return name.ends_with(end); });
}

void list(const fs::path& directory, const std::string& below, const Rewriting& rewriting, int depth,
          std::vector<SideFile>& out) {
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    const bool link = fs::is_symlink(it->symlink_status(ignored));
    if (fs::is_directory(it->status(ignored))) {
      if (!link && depth < kDeepest && !any_of(kLeftBehind, name))
        list(it->path(), below + name + "/", rewriting, depth + 1, out);
      continue;
    }
    const bool rewritten = below.empty() && (any_of(kRewritten, name) ||
                                             std::any_of(rewriting.files.begin(), rewriting.files.end(),
                                                         [&name](const TextFile& file) { return file.name == name; }));
    if (!fs::is_regular_file(it->status(ignored)) || is_weights(name) || rewritten) continue;
    out.push_back({it->path().string(), below + (below.empty() && name == "README.md" ? "README.orig.md" : name)});
    if (out.size() > kMostFiles) profiles::fail_input("the directory holds too many files", {.file = directory.string()});
  }
  if (error)
    profiles::fail_environment(format("cannot list the directory: {}", error.message()), {.file = directory.string()});
}

}  // namespace

std::vector<SideFile> side_files(const Source& source, const Rewriting& rewriting) {
  std::vector<SideFile> out;
  list(source.files.directory, "", rewriting, 0, out);
  // Of a checkpoint that was carved before, README.orig.md stays the original's.
  std::sort(out.begin(), out.end(), [](const SideFile& a, const SideFile& b) {
    return a.name != b.name ? a.name < b.name : a.source.ends_with(a.name) && !b.source.ends_with(b.name);
  });
  out.erase(std::unique(out.begin(), out.end(), [](const SideFile& a, const SideFile& b) { return a.name == b.name; }),
            out.end());
  return out;
}

std::string model_card(const Checkpoint& checkpoint, const Request& request, const Record& record) {
  const Layout& layout = checkpoint.layout;
  const std::size_t keep = record.kept.front().size();
  const std::string name = fs::weakly_canonical(checkpoint.source.files.directory).filename().string();
  std::string out = "---\nbase_model: " + json_quoted(name) + "\ntags: [moe, expert-pruning, kvfit]\n---\n\n";
  out += format("# {} with {} of {} experts\n\n", name, keep, layout.experts);
  out += format(
      "Derived with `kvfit carve`: in each of {} mixture-of-experts blocks the {} experts that score highest were kept and "
      "renumbered, router rows with them (score: {}). The bytes of kept experts are those of the original.\n\n",
      layout.blocks.size(), keep, score_text(request));
  out += "**Derived, not evaluated.** Measure it on your task before you rely on it.\n\n";
  if (!record.basis.empty()) out += format("Weight factor: {}.\n", record.basis);
  if (request.draft == DraftMode::drop) out += "The draft head (MTP) was left out.\n";
  return out + "`carve_manifest.json` lists the kept experts of every block; `README.orig.md` is the original card.\n";
}

std::string index_text(const Survivors& survivors, const std::vector<OutputFile>& files, const std::string& metadata) {
  std::vector<std::pair<std::string, std::size_t>> entries;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for_each_output_tensor(survivors, files[i].spans, [&](std::string name) { entries.emplace_back(std::move(name), i); });
  }
  std::sort(entries.begin(), entries.end());
  std::string out = format("{{\n  \"metadata\": {{\n    {}\n  }},\n  \"weight_map\": {{", metadata);
  bool first = true;
  for (const auto& [name, file] : entries) {
    out += first ? "\n    " : ",\n    ";
    out += json_quoted(name) + ": " + json_quoted(files[file].name);
    first = false;
  }
  return out + "\n  }\n}\n";
}

}  // namespace kvfit::carve
