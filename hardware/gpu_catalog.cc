#include "hardware/gpu_catalog.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/error.h"
#include "profiles/spelling.h"
#include "profiles/text.h"

namespace kvfit::hardware {
namespace {

using profiles::Catalog;
using profiles::format;
using profiles::lower;
using profiles::ProfileFile;

template <typename T>
FactRow row(std::string key, std::string unit, const Fact<T>& fact, double low, double likely, double high) {
  const char* provenance = fact.derived ? "derived" : fact.sourced ? "read" : "unsourced";
  return {std::move(key), std::move(unit), low, likely, high, provenance, fact.source};
}

double real(Bytes bytes) { return static_cast<double>(bytes.count); }

FactRow range_row(std::string key, const Fact<ByteRange>& fact) {
  return row(std::move(key), "bytes", fact, real(fact.value.low), real(fact.value.likely), real(fact.value.high));
}

FactRow bytes_row(std::string key, const Fact<Bytes>& fact) {
  return row(std::move(key), "bytes", fact, real(fact.value), real(fact.value), real(fact.value));
}

FactRow number_row(std::string key, std::string unit, const Fact<double>& fact) {
  return row(std::move(key), std::move(unit), fact, fact.value, fact.value, fact.value);
}

// Two files that claim one id or alias: the first one found would win silently.
void lint_names(const std::vector<std::pair<std::string, Gpu>>& gpus, std::vector<LintFinding>& out) {
  std::map<std::string, std::string> owner;
  for (const auto& [origin, gpu] : gpus) {
    std::vector<std::string> names = gpu.aliases;
    names.push_back(gpu.id);
    for (const std::string& name : names) {
      const auto [found, fresh] = owner.emplace(lower(name), origin);
      if (!fresh) out.push_back({origin, format("'{}' is also an id or alias in {}", name, found->second)});
    }
  }
}

// Two profiles may share a driver name only when their totals tell them apart.
void lint_totals(const std::vector<std::pair<std::string, Gpu>>& gpus, std::vector<LintFinding>& out) {
  const auto total = [](const Gpu& gpu) {
    return gpu.nvml_total ? gpu.nvml_total->value : gpu.cuda_total_linux.value.likely;
  };
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Gpu& a = gpus[i].second;
      const Gpu& b = gpus[j].second;
      const bool shared = std::any_of(a.driver_names.begin(), a.driver_names.end(), [&b](const std::string& name) {
        return std::find(b.driver_names.begin(), b.driver_names.end(), name) != b.driver_names.end();
      });
      const std::int64_t apart = std::llabs(total(a).count - total(b).count);
      if (shared && apart <= std::max(total(a), total(b)).count / 50) {
        out.push_back({gpus[i].first, format("same driver name as {} and totals within 2 %", gpus[j].first)});
      }
    }
  }
}

}  // namespace

Gpu load_gpu(const Catalog& catalog, std::string_view id_or_alias) {
  return read_gpu(catalog.load(catalog.resolve("hardware", id_or_alias)));
}

std::vector<Gpu> load_gpus(const Catalog& catalog) {
  std::vector<Gpu> out;
  for (const ProfileFile& file : catalog.list("hardware")) out.push_back(read_gpu(catalog.load(file)));
  return out;
}

GateRules load_gate_rules(const Catalog& catalog, std::string_view engine, std::string_view engine_version) {
  return read_gate_rules(catalog.load(catalog.resolve("gates", engine)), engine_version);
}

std::vector<FactRow> facts_of(const Gpu& gpu) {
  std::vector<FactRow> out;
  if (gpu.nvml_total) out.push_back(bytes_row("nvml_total", *gpu.nvml_total));
  out.push_back(range_row("cuda_total_linux", gpu.cuda_total_linux));
  if (gpu.cuda_total_wsl2) out.push_back(range_row("cuda_total_wsl2", *gpu.cuda_total_wsl2));
  if (!gpu.unified) out.push_back(range_row("context", gpu.context));
  if (gpu.wsl2_hidden) out.push_back(range_row("wsl2_hidden", *gpu.wsl2_hidden));
  out.push_back(range_row("idle", gpu.idle));
  if (gpu.utilisation) {
    const RatioRange& ratio = gpu.utilisation->value;
    out.push_back(row("utilisation", "ratio", *gpu.utilisation, ratio.low, ratio.likely, ratio.high));
  }
  if (gpu.sm_count.value > 0) {
    const double count = gpu.sm_count.value;
    out.push_back(row("sm_count", "count", gpu.sm_count, count, count, count));
  }
  out.push_back(bytes_row("shared_memory_optin", gpu.shared_memory_optin));
  if (gpu.l2.value.count > 0) out.push_back(bytes_row("l2", gpu.l2));
  if (gpu.bandwidth.value > 0) out.push_back(number_row("bandwidth", "bytes_per_second", gpu.bandwidth));
  if (gpu.nvlink.value > 0) out.push_back(number_row("nvlink", "bytes_per_second", gpu.nvlink));
  if (gpu.pcie.value > 0) out.push_back(number_row("pcie", "bytes_per_second", gpu.pcie));
  if (gpu.power.value > 0) out.push_back(number_row("power", "watts", gpu.power));
  return out;
}

std::vector<LintFinding> lint_gpus(const Catalog& catalog) {
  std::vector<LintFinding> out;
  std::vector<std::pair<std::string, Gpu>> gpus;
  for (const ProfileFile& file : catalog.list("hardware")) {
    try {
      Gpu gpu = read_gpu(catalog.load(file));
      if (gpu.id != file.id) out.push_back({file.origin, format("the file is named {}, its id is {}", file.id, gpu.id)});
      gpus.emplace_back(file.origin, std::move(gpu));
    } catch (const profiles::Error& error) {
      out.push_back({file.origin, error.text()});
    }
  }
  lint_names(gpus, out);
  lint_totals(gpus, out);
  for (const ProfileFile& file : catalog.list("gates")) {
    try {
      read_gate_rules(catalog.load(file));
    } catch (const profiles::Error& error) {
      out.push_back({file.origin, error.text()});
    }
  }
  return out;
}

}  // namespace kvfit::hardware
