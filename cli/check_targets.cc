#include "cli/check_targets.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 20'000;

bool may_be_deployment(const fs::path& path) {
  const std::string end = path.extension().string();
  constexpr std::string_view kEnds[] = {".yaml", ".yml", ".json", ".sh", ".service", ".container"};
  return std::find(std::begin(kEnds), std::end(kEnds), end) != std::end(kEnds);
}

bool left_out(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name == "node_modules" || name == "kvfit.yaml";
}

void search(const std::string& directory, std::vector<Target>& out) {
  std::vector<std::string> found;
  std::error_code error;
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied, error);
  for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (error) break;
    if (left_out(at->path())) {
      if (at->is_directory(error)) at.disable_recursion_pending();
      continue;
    }
    if (!at->is_regular_file(error) || !may_be_deployment(at->path())) continue;
    if (found.size() >= kMostFiles) {
      profiles::fail_input(profiles::format("more than {} files in {}", kMostFiles, directory), {}, "name what to check");
    }
    found.push_back(at->path().lexically_normal().string());
  }
  if (error) profiles::fail_environment("cannot read the directory: " + error.message(), {.file = directory});
  std::sort(found.begin(), found.end());
  for (std::string& path : found) out.push_back({std::move(path), true});
}

}  // namespace

std::vector<Target> targets_of(const std::vector<std::string>& words) {
  std::vector<Target> out;
  std::error_code error;
  for (const std::string& word : words) {
    if (word == "-") {
      out.push_back({word, false});
    } else if (fs::is_directory(word, error)) {
      search(word, out);
    } else if (fs::exists(word, error)) {
      out.push_back({word, false});
    } else {
      profiles::fail_input("no such file or directory", {.file = word});
    }
  }
  return out;
}

}  // namespace kvfit::cli
