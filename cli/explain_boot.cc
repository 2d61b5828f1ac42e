// What `kvfit boot` checks on the machine at hand, each with the rule it is judged by (runtime/boot_verdict.cc).
#include <string>
#include <utility>
#include <vector>

#include "cli/explain.h"
#include "profiles/text.h"
#include "runtime/boot_plan.h"

namespace kvfit::cli {
namespace {

using profiles::format;

constexpr const char* kRule = "kvfit's own rule; traps of the driver API are in DESIGN.md, The machine at hand";

Explanation item(std::string key, std::string meaning, std::string value, std::string formula) {
  return {.key = "boot." + std::move(key),
          .meaning = std::move(meaning),
          .value = std::move(value),
          .formula = std::move(formula),
          .source = kRule};
}

}  // namespace

std::vector<Explanation> explain_boot(const Report& report) {
  if (report.plan.ledgers.empty()) return {};
  const runtime::BootPlan plan = runtime::boot_plan(report.plan.ledgers.front());
  const double bandwidth = report.question.node.gpu.bandwidth.value;
  const std::string rate = bandwidth > 0 ? format("{:.0f} GB/s", bandwidth / 1e9) : "not known";
  return {
      item("total", "device total that kvfit boot compares", bytes_text(plan.total),
           "TIGHT when the driver's total is more than 1 % off"),
      item("free_at_start", "free before the first allocation, kvfit's own context included", bytes_text(plan.free_at_start),
           "NO below ceil(measured total x utilisation): the engine refuses to start"),
      item("allocation", "what kvfit boot allocates, entry by entry: weights, profile run, KV cache, what comes afterwards",
           bytes_text(plan.sum()),
           "NO when the driver has no memory for an entry; never beyond --limit or, shared with the "
           "CPU, MemAvailable less 1 GiB"),
      item("contents", "bytes that read back differently", "0",
           "every page is written by a kernel: word i = first + i x 0x9E3779B97F4A7C15; read back word by word, and their "
           "sum "
           "compared with words x first + step x words x (words - 1) / 2"),
      item(
          "write_rate", "bandwidth of writing, and read_rate of reading", rate,
          "TIGHT below half of the profile's bandwidth or when a piece runs at under 0.4 of the mean; NO below a quarter: a "
          "spill"),
      item("left_free", "free with everything allocated", bytes_text(plan.left_free),
           "NO when more was allocated than was free at start: the rest lies in host memory"),
      item("release", "free after everything was given back", bytes_text(plan.free_at_start),
           "TIGHT when more than 64 MiB are missing: another program took them"),
      item("checkpoint", "bytes of --checkpoint that arrive as they are in the files", "all",
           "sum over 8-byte words of mix(word xor place), on the GPU and on the CPU"),
      item("expert", "one NVFP4 expert multiplied on GPU and CPU", "0",
           "largest difference; both use the same fused multiply-adds in the same order, so it is 0 or something is broken"),
  };
}

}  // namespace kvfit::cli
