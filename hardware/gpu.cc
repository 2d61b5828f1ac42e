#include "hardware/gpu.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/facts.h"
#include "profiles/text.h"

namespace kvfit::hardware {
namespace {

using profiles::Fields;
using profiles::format;

// Wider than any part sold, narrow enough to catch a wrong unit (bytes written as MiB and the reverse).
constexpr Bytes kLeastTotal = profiles::mib(256);
constexpr Bytes kMostTotal = profiles::gib(4096);
constexpr Bytes kMostOverhead = profiles::gib(128);
constexpr Bytes kNothing{0};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string read_id(const profiles::Node& node) {
  const std::string& id = node.string();
  const bool good = !id.empty() && std::all_of(id.begin(), id.end(),
                                               [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-'; });
  if (!good) node.fail(format("'{}' is not an id", id), "an id has lower-case letters, digits and hyphens: rtx5090-24g");
  return id;
}

std::string read_date(const profiles::Node& node) {
  const std::string date = node.scalar_text();
  bool good = date.size() == 10;
  for (std::size_t i = 0; good && i < date.size(); ++i) good = i == 4 || i == 7 ? date[i] == '-' : is_digit(date[i]);
  if (!good) node.fail(format("'{}' is not a date", date), "write it as 2026-11-30");
  return date;
}

std::vector<std::string> read_texts(const profiles::Node* node) {
  std::vector<std::string> out;
  if (!node) return out;
  for (const profiles::Node& item : node->list()) out.push_back(item.string());
  return out;
}

void read_identity(Fields& fields, Gpu& out) {
  out.id = read_id(fields.at("id"));
  out.name = fields.at("name").string();
  const profiles::Node& names = fields.at("names");
  out.driver_names = read_texts(&names);
  if (out.driver_names.empty()) names.fail("no driver name", "list what `nvidia-smi --query-gpu=name` prints");
  out.aliases = read_texts(fields.find("aliases"));
  out.as_of = read_date(fields.at("as_of"));
  out.capability = parse_capability(fields.at("capability"));
  out.unified = fields.boolean("unified", false);
  out.notes = read_texts(fields.find("notes"));
}

// Discrete: total - context - idle is free. Unified: `idle` is all that lies between total and free.
void read_memory(Fields& fields, const profiles::Node& profile, Gpu& out) {
  if (const profiles::Node* node = fields.find("nvml_total")) out.nvml_total = read_bytes(*node, kLeastTotal, kMostTotal);
  out.cuda_total_linux = read_byte_range(fields.at("cuda_total_linux"), kLeastTotal, kMostTotal);
  const profiles::Node* wsl2 = fields.find("cuda_total_wsl2");
  const profiles::Node* hidden = fields.find("wsl2_hidden");
  if ((wsl2 == nullptr) != (hidden == nullptr)) {
    (wsl2 ? wsl2 : hidden)->fail("`cuda_total_wsl2` and `wsl2_hidden` belong together", "give both or neither");
  }
  if (wsl2) out.cuda_total_wsl2 = read_byte_range(*wsl2, kLeastTotal, kMostTotal);
  if (hidden) out.wsl2_hidden = read_byte_range(*hidden, kNothing, kMostOverhead);
  out.idle = read_byte_range(fields.at("idle"), kNothing, kMostOverhead);
  const profiles::Node* context = fields.find("context");
  const profiles::Node* utilisation = fields.find("utilisation");
  if (out.unified) {
    if (context) context->fail("unified memory has no context of its own", "count it in `idle`: total less free at start");
    if (utilisation) out.utilisation = read_ratio_range(*utilisation);
    return;
  }
  if (utilisation) utilisation->fail("`utilisation` is for unified memory", "set `unified: true` or drop it");
  if (!context) profile.fail("missing key 'context'", "the CUDA context: about 3 MiB an SM, 4 on data-centre parts");
  out.context = read_byte_range(*context, kNothing, kMostOverhead);
}

void read_compute(Fields& fields, Gpu& out) {
  out.shared_memory_optin = read_bytes(fields.at("shared_memory_optin"), Bytes(profiles::kKiB), profiles::mib(16));
  if (const profiles::Node* node = fields.find("sm_count")) out.sm_count = read_count(*node, 4096);
  if (const profiles::Node* node = fields.find("l2")) out.l2 = read_bytes(*node, Bytes(profiles::kKiB), profiles::gib(16));
  if (const profiles::Node* node = fields.find("bandwidth")) out.bandwidth = read_rate(*node);
  if (const profiles::Node* node = fields.find("nvlink")) out.nvlink = read_rate(*node);
  if (const profiles::Node* node = fields.find("pcie")) out.pcie = read_rate(*node);
  if (const profiles::Node* node = fields.find("power")) out.power = read_watts(*node);
}

// Each value alone may be plausible; together they must be too.
void check(const profiles::Node& profile, const Gpu& gpu) {
  const ByteRange& total = gpu.cuda_total_linux.value;
  const auto text = [](Bytes bytes) { return format("{} MiB", bytes.count / profiles::kMiB); };
  if (!gpu.unified && gpu.nvml_total && total.high > gpu.nvml_total->value) {
    profile.at("cuda_total_linux")
        .fail(format("CUDA's total {} exceeds NVML's {}", text(total.high), text(gpu.nvml_total->value)),
              "CUDA reports NVML's total less the driver's reserve");
  }
  if (!gpu.cuda_total_linux.sourced && total.low == total.high) {
    profile.at("cuda_total_linux").fail("an unsourced total needs a range", "write mib: [low, likely, high]");
  }
  if (gpu.context.value.high + gpu.idle.value.high >= total.low) {
    profile.at("idle").fail(format("nothing of {} is left", text(total.low)));
  }
  if (!gpu.wsl2_hidden || !gpu.cuda_total_wsl2) return;
  if (const Bytes least = gpu.cuda_total_wsl2->value.low; gpu.wsl2_hidden->value.high >= least) {
    profile.at("wsl2_hidden").fail(format("nothing of {} is left", text(least)));
  }
}

}  // namespace

Capability parse_capability(const profiles::Node& node) {
  const std::string text = node.scalar_text();
  const std::size_t dot = text.find('.');
  const bool good = dot != std::string::npos && dot >= 1 && dot <= 2 && text.size() == dot + 2 && is_digit(text[0]) &&
                    is_digit(text[dot - 1]) && is_digit(text[dot + 1]);
  if (!good) node.fail(format("'{}' is not a compute capability", text), "write it as \"12.0\"");
  return {std::stoi(text.substr(0, dot)), text[dot + 1] - '0'};
}

Gpu read_gpu(const profiles::Node& profile) {
  Fields fields(profile);
  Gpu out;
  read_identity(fields, out);
  read_memory(fields, profile, out);
  read_compute(fields, out);
  fields.finish();
  check(profile, out);
  return out;
}

}  // namespace kvfit::hardware
