#include "runtime/nvidia_smi.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/error.h"
#include "profiles/text.h"
#include "runtime/cuda_device.h"
#include "runtime/log_scan.h"

namespace kvfit::runtime {
namespace {

using profiles::fail_input;
using profiles::format;

constexpr std::string_view kQuery =
    "uuid,pci.bus_id,name,compute_cap,memory.total,memory.used,driver_version,mig.mode.current";
constexpr std::string_view kHint =
    "save it with: nvidia-smi --query-gpu=uuid,pci.bus_id,name,compute_cap,memory.total,memory.used,driver_version,"
    "mig.mode.current --format=csv";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> out;
  for (bool more = true; more;) {
    const std::size_t comma = line.find(',');
    out.emplace_back(trimmed(line.substr(0, comma)));
    more = comma != std::string_view::npos;
    if (more) line.remove_prefix(comma + 1);
  }
  return out;
}

std::vector<std::pair<int, std::string>> lines_of(std::string_view text) {
  std::vector<std::pair<int, std::string>> out;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string line = plain_line(text.substr(0, end));
    ++number;
    if (!trimmed(line).empty()) out.emplace_back(number, std::move(line));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

class Row {
 public:
  Row(const std::vector<std::string>& columns, std::vector<std::string> cells, profiles::Where where)
      : columns_(columns), cells_(std::move(cells)), where_(std::move(where)) {}

  // Empty when the column is not there or says that it is not known.
  std::string text(std::string_view column) const {
    for (std::size_t i = 0; i < columns_.size() && i < cells_.size(); ++i) {
      // "memory.total [MiB]" is the column memory.total.
      if (trimmed(std::string_view(columns_[i]).substr(0, columns_[i].find('['))) != column) continue;
      return cells_[i].starts_with('[') ? std::string() : cells_[i];
    }
    return {};
  }

  std::optional<Bytes> mib(std::string_view column) const {
    const std::string value = text(column);
    if (value.empty()) return std::nullopt;
    Scan scan(value);
    const std::optional<std::int64_t> number = scan.integer();
    const std::string_view unit = trimmed(scan.rest());
    constexpr std::int64_t kMost = std::int64_t{1} << 40;  // MiB
    if (!number || *number < 0 || *number > kMost || !(unit.empty() || unit == "MiB")) {
      fail_input(format("{} is '{}', which is no size in MiB", column, value), where_, std::string(kHint));
    }
    return profiles::mib(*number);
  }

 private:
  const std::vector<std::string>& columns_;
  std::vector<std::string> cells_;
  profiles::Where where_;
};

NvmlDevice device_of(const Row& row) {
  NvmlDevice out{.name = row.text("name"), .uuid = row.text("uuid"), .pci_bus_id = pci_id(row.text("pci.bus_id"))};
  const std::string text = row.text("compute_cap");
  const std::size_t dot = text.find('.');
  if (dot != std::string::npos) {
    const std::optional<std::int64_t> major = Scan(text).integer();
    const std::optional<std::int64_t> minor = Scan(std::string_view(text).substr(dot + 1)).integer();
    const auto sane = [](const std::optional<std::int64_t>& n) { return n && *n >= 0 && *n < 100; };
    if (sane(major) && sane(minor)) out.capability = {static_cast<int>(*major), static_cast<int>(*minor)};
  }
  out.total = row.mib("memory.total").value_or(Bytes(0));
  out.used = row.mib("memory.used");
  out.mig = row.text("mig.mode.current") == "Enabled";
  return out;
}

}  // namespace

std::string_view smi_query() { return kQuery; }

std::vector<std::string> smi_arguments() { return {"nvidia-smi", "--query-gpu=" + std::string(kQuery), "--format=csv"}; }

SmiReading read_smi(std::string_view text, const std::string& file) {
  const std::vector<std::pair<int, std::string>> lines = lines_of(text);
  const profiles::Where where{.file = file, .line = lines.empty() ? 0 : lines.front().first};
  if (lines.empty()) fail_input("nothing is in this output of nvidia-smi", where, std::string(kHint));
  const std::vector<std::string> columns = cells_of(lines.front().second);
  if (std::find(columns.begin(), columns.end(), "name") == columns.end()) {
    fail_input("this is no query of nvidia-smi in CSV: the first line has no column 'name'", where, std::string(kHint));
  }
  SmiReading out;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const Row row(columns, cells_of(lines[i].second), {.file = file, .line = lines[i].first});
    out.devices.push_back(device_of(row));
    if (out.devices.back().name.empty()) {
      fail_input("a GPU without a name", {.file = file, .line = lines[i].first}, std::string(kHint));
    }
    if (out.driver_version.empty()) out.driver_version = row.text("driver_version");
  }
  if (out.devices.empty()) fail_input("nvidia-smi saw no GPU", where, std::string(kHint));
  return out;
}

}  // namespace kvfit::runtime
