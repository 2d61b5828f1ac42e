#include "cli/check_policy.h"

#include <charconv>
#include <chrono>
#include <cstdint>
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

// The flag a remark is about stands in its sentence; numbers in it may change without the finding being another.
std::string subject(const Placed& placed) {
  std::string out;
  for (const char c : placed.finding.text) {
    if (c < '0' || c > '9') out += c;
  }
  const bool about_numbers = placed.finding.id < "KVF015" || placed.finding.id == "KVF030";
  return about_numbers ? "" : out;
}

template <typename Visit>
void each(CheckRun& run, Visit visit) {
  for (CheckCase& one : run.cases) {
    for (Placed& placed : one.findings) visit(one, placed);
  }
}

}  // namespace

void mark_fingerprints(const ProjectConfig& config, CheckRun& run) {
  each(run, [&config](const CheckCase& one, Placed& placed) {
    placed.deployment = one.label();
    const std::string path = one.file.empty() ? "" : path_from(config, one.file);
    placed.fingerprint = digest(placed.finding.id + "\n" + path + "\n" + one.deployment.name + "\n" + subject(placed));
  });
}

void apply_allowances(const ProjectConfig& config, const std::string& today, CheckRun& run) {
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
    } else if (!used) {
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
