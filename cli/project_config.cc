#include "cli/project_config.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/finding_catalog.h"
#include "profiles/error.h"
#include "profiles/quantity.h"
#include "profiles/suggest.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

namespace fs = std::filesystem;
using profiles::Fields;
using profiles::format;
using profiles::Node;

std::string one_of(const Node& node, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (node.scalar_text() == word) return std::string(word);
  }
  const std::vector<std::string> known(words.begin(), words.end());
  node.fail(format("'{}' is none of {}", node.scalar_text(), profiles::join(known, ", ")),
            profiles::did_you_mean(node.scalar_text(), known));
}

TargetSettings read_settings(Fields& fields) {
  TargetSettings out;
  if (const Node* node = fields.find("gpu")) out.gpu = node->string();
  if (const Node* node = fields.find("model")) out.model = node->string();
  if (const Node* node = fields.find("system")) out.system = one_of(*node, {"linux", "wsl2"});
  if (const Node* node = fields.find("engine_version")) out.engine_version = node->scalar_text();
  if (const Node* node = fields.find("gpus")) out.gpus = node->integer(1, 4096);
  if (const Node* node = fields.find("used_elsewhere")) {
    out.used_elsewhere = profiles::read_size(node->scalar_text());
    if (!out.used_elsewhere) node->fail(format("'{}' is no size", node->scalar_text()), "write 1.5GiB or 512MiB");
  }
  return out;
}

// Each star multiplies the work of matching.
std::string read_pattern(const Node& node) {
  constexpr std::ptrdiff_t kMostStars = 8;
  const std::string& text = node.string();
  if (std::count(text.begin(), text.end(), '*') > kMostStars) node.fail("a path of more than 8 stars");
  return text;
}

// A day of the calendar, written as 2027-03-31.
bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto digit = [](char c) { return c == '-' || std::isdigit(static_cast<unsigned char>(c)) != 0; };
  if (!std::all_of(text.begin(), text.end(), digit) || std::count(text.begin(), text.end(), '-') != 2) return false;
  const auto number = [text](std::size_t at, std::size_t size) {
    unsigned out = 0;
    std::from_chars(text.data() + at, text.data() + at + size, out);
    return out;
  };
  const std::chrono::year year(static_cast<int>(number(0, 4)));
  return std::chrono::year_month_day(year, std::chrono::month(number(5, 2)), std::chrono::day(number(8, 2))).ok();
}

Allowance read_allowance(const Node& node) {
  Fields fields(node);
  Allowance out;
  const Node& id = fields.at("id");
  const FindingPage* page = find_page(id.string());
  if (page == nullptr) {
    std::vector<std::string> known;
    for (const FindingPage& one : finding_pages()) known.emplace_back(one.id);
    id.fail(format("no finding has the id '{}'", id.string()), profiles::did_you_mean(id.string(), known));
  }
  if (page->id == "KVF000")
    id.fail("a question without answer cannot be allowed", "say what is missing, or leave the file out");
  out.id = std::string(page->id);
  if (const Node* path = fields.find("path")) out.path = read_pattern(*path);
  const Node& reason = fields.at("reason");
  out.reason = reason.string();
  if (out.reason.empty()) reason.fail("a suppression needs a reason");
  if (const Node* until = fields.find("until")) {
    out.until = until->scalar_text();
    if (!is_date(out.until)) until->fail(format("'{}' is no date", out.until), "write a day as 2027-03-31");
  }
  out.where = id.where();
  fields.finish();
  return out;
}

}  // namespace

ProjectConfig read_project_config(const Node& root) {
  ProjectConfig out;
  out.file = root.where().file;
  if (root.is_null()) return out;
  Fields fields(root);
  out.settings = read_settings(fields);
  if (const Node* node = fields.find("margin")) out.margin = node->scalar_text();
  if (const Node* node = fields.find("fail_on")) out.fail_on = one_of(*node, {"error", "warning", "note", "never"});
  if (const Node* list = fields.find("deployments")) {
    for (const Node& node : list->list()) {
      Fields entry(node);
      const std::string path = read_pattern(entry.at("path"));
      out.deployments.push_back({path, read_settings(entry)});
      entry.finish();
    }
  }
  if (const Node* list = fields.find("allow")) {
    for (const Node& node : list->list()) out.allow.push_back(read_allowance(node));
  }
  fields.finish();
  return out;
}

std::string find_project_config(const std::string& directory) {
  std::error_code error;
  fs::path at = (fs::absolute(directory, error) / "").lexically_normal().parent_path();
  if (error) return "";
  for (int i = 0; i < 64; ++i) {
    const fs::path file = at / "kvfit.yaml";
    if (fs::is_regular_file(file, error)) return file.lexically_proximate(fs::current_path(error)).string();
    if (!at.has_relative_path()) break;
    at = at.parent_path();
  }
  return "";
}

std::string path_from(const ProjectConfig& config, const std::string& path) {
  std::error_code error;
  if (config.file.empty()) return path;
  const fs::path base = fs::absolute(config.file, error).parent_path();
  return fs::absolute(path, error).lexically_normal().lexically_proximate(base.lexically_normal()).generic_string();
}

bool matches(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return path.empty();
  if (pattern.starts_with("**")) {
    std::string_view rest = pattern.substr(2);
    if (rest.starts_with('/') && matches(rest.substr(1), path)) return true;
    for (std::size_t i = 0; i <= path.size(); ++i) {
      if (matches(rest, path.substr(i))) return true;
    }
    return false;
  }
  if (pattern.front() == '*') {
    for (std::size_t i = 0; i <= path.size(); ++i) {
      if (matches(pattern.substr(1), path.substr(i))) return true;
      if (i < path.size() && path[i] == '/') break;
    }
    return false;
  }
  if (path.empty() || (pattern.front() != '?' && pattern.front() != path.front())) return false;
  return matches(pattern.substr(1), path.substr(1));
}

}  // namespace kvfit::cli
