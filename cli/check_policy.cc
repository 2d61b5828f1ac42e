#include "cli/check_policy.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/check_rules.h"
#include "profiles/document.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using profiles::format;

// FNV-1a, 64 bits: not a secret, only short and the same everywhere.
std::string digest(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return format("{:016x}", hash);
}

// A call's number in its script says where it stands, not which one it is.
std::string name_of(const CheckCase& one) {
  const std::string& name = one.deployment.name;
  const std::size_t call = name.starts_with("call ") ? 0 : name.find(", call ");
  return name.substr(0, call);
}

// Which deployment: file, name, what it serves and where. Settings may change without a finding being another.
std::string identity(const CheckCase& one, const std::string& path) {
  std::string out = path + "\n" + name_of(one) + "\n";
  if (one.deployment.model) out += one.deployment.model->text;
  if (one.report) out += "\n" + one.report->question.node.gpu.id;
  return out;
}

// Whether the run read every file that a pattern speaks of, and one at least: only then does an entry without a finding have
// no use. One without a pattern speaks of all that is ever checked, of which a directory is taken for the whole.
bool read_all(const std::string& pattern, const ProjectConfig& config, const CheckRun& run,
              const std::set<std::string, std::less<>>& checked) {
  if (pattern.empty()) return !run.searched.empty();
  if (std::none_of(checked.begin(), checked.end(), [&](const std::string& path) { return matches(pattern, path); })) {
    return false;
  }
  const std::size_t open = pattern.find_first_of("*?");
  if (open == std::string::npos) return true;
  const std::string below = pattern.substr(0, open).substr(0, pattern.rfind('/', open) + 1);  // "" = the file's own folder
  return std::any_of(run.searched.begin(), run.searched.end(), [&](const std::string& directory) {
    const std::string searched = path_from(config, directory);
    return searched == "." || below.starts_with(searched.ends_with('/') ? searched : searched + "/");
  });
}

template <typename Visit>
void each(CheckRun& run, Visit visit) {
  for (CheckCase& one : run.cases) {
    for (Placed& placed : one.findings) visit(one, placed);
  }
}

}  // namespace

void mark_fingerprints(const ProjectConfig& config, CheckRun& run) {
  std::map<std::string, int, std::less<>> seen;  // two that are alike in one file are two
  each(run, [&](const CheckCase& one, Placed& placed) {
    placed.deployment = one.label();
    const std::string& about = placed.subject.empty() ? placed.finding.text : placed.subject;
    const std::string path = one.file.empty() ? "" : path_from(config, one.file);
    const std::string whole = placed.finding.id + "\n" + identity(one, path) + "\n" + about;
    const int before = seen[whole]++;
    placed.fingerprint = digest(before == 0 ? whole : format("{}\n{}", whole, before));
  });
}

void apply_allowances(const ProjectConfig& config, const std::string& today, CheckRun& run) {
  std::set<std::string, std::less<>> checked;
  for (const CheckCase& one : run.cases) checked.insert(path_from(config, one.file));
  for (const Allowance& allowance : config.allow) {
    bool used = false;
    const bool over = !allowance.until.empty() && allowance.until < today;
    each(run, [&](const CheckCase& one, Placed& placed) {
      if (placed.finding.id != allowance.id) return;
      if (!allowance.path.empty() && !matches(allowance.path, path_from(config, one.file))) return;
      used = true;
      if (over) return;
      placed.suppressed = true;
      placed.reason = allowance.reason;
    });
    if (over && used) {
      add_finding(run.general, "KVF031", format("the suppression of {} ran out on {}", allowance.id, allowance.until),
                  "mend the finding, or renew the entry", allowance.where);
    } else if (!used && read_all(allowance.path, config, run, checked)) {
      add_finding(run.general, "KVF032", format("the suppression of {} matches no finding of this run", allowance.id),
                  "remove it", allowance.where);
    }
  }
  for (Placed& placed : run.general) {
    placed.fingerprint = digest(placed.finding.id + "\n" + placed.finding.text);
  }
}

void apply_baseline(const std::string& text, const std::string& file, CheckRun& run) {
  const profiles::Node root = profiles::parse_json(text, file);
  const profiles::Node* schema = root.is_map() ? root.find("schema") : nullptr;
  if (schema == nullptr || !schema->is_string() || schema->string() != "kvfit.check") {
    profiles::fail_input("no baseline: not a report of kvfit check", {.file = file},
                         "make one with kvfit check ... --format json -o FILE");
  }
  std::set<std::string> known;
  for (const profiles::Node& finding : root.at("findings").list()) known.insert(finding.at("fingerprint").string());
  each(run, [&known](const CheckCase&, Placed& placed) {
    placed.known = known.contains(placed.fingerprint) && placed.finding.id != "KVF000";
  });
}

std::string today(const std::string& source_date_epoch) {
  std::int64_t seconds = 0;
  const char* end = source_date_epoch.data() + source_date_epoch.size();
  const std::from_chars_result read = std::from_chars(source_date_epoch.data(), end, seconds);
  const bool stated = !source_date_epoch.empty() && read.ec == std::errc{} && read.ptr == end && seconds >= 0;
  const std::chrono::system_clock::time_point now =
      stated ? std::chrono::system_clock::time_point(std::chrono::seconds(seconds)) : std::chrono::system_clock::now();
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(now));
  return format("{:04d}-{:02d}-{:02d}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                static_cast<unsigned>(day.day()));
}

}  // namespace kvfit::cli
