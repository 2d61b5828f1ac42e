// Findings about the deployment around the call: GPUs, image, flags that kvfit does not price.
#include <cstdint>
#include <string>
#include <vector>

#include "cli/check_rules.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using profiles::format;
using runtime::argument;
using runtime::place_of;

void gpu_count(const RuleInput& input, std::vector<Placed>& out) {
  const runtime::Deployment& deployment = input.deployment;
  if (!deployment.gpus.count || deployment.kind == "plan") return;
  const planner::Serving& serving = input.report.question.serving;
  // With ranks of data parallelism elsewhere, one process needs those of this machine only.
  std::int64_t replicas = serving.data_parallel_size;
  if (argument(deployment, "data-parallel-size-local") != nullptr || argument(deployment, "data-parallel-rank") != nullptr) {
    return;
  }
  const std::int64_t needed = serving.tensor_parallel_size * serving.pipeline_parallel_size * replicas;
  const std::int64_t asked = *deployment.gpus.count;
  if (asked == needed) return;
  const std::string sizes = format("tp {} x pp {} x dp {} needs {}", serving.tensor_parallel_size,
                                   serving.pipeline_parallel_size, replicas, needed);
  if (asked < needed) {
    add_finding(out, "KVF019", format("{} GPU{} asked for, {}", asked, asked == 1 ? " is" : "s are", sizes),
                "raise the request, or lower the parallel sizes", deployment.gpus.where)
        .subject = "too few";
  } else {
    add_finding(out, "KVF019", planner::Finding::Level::warning,
                format("{} GPUs are asked for, {}: {} stay idle", asked, sizes, asked - needed),
                "lower the request, or raise --tensor-parallel-size", deployment.gpus.where)
        .subject = "too many";
  }
}

void image_release(const RuleInput& input, std::vector<Placed>& out) {
  const runtime::Deployment& deployment = input.deployment;
  if (!deployment.image || deployment.engine_version || deployment.image->text.empty()) return;
  add_finding(out, "KVF023",
              format("{} names no release: {} {} is assumed", deployment.image->text, input.report.engine,
                     input.report.engine_version),
              "pin the image, or say --engine-version", deployment.image->where);
}

// Whether a flag that changes memory says no more than the checkpoint itself does.
bool says_nothing_new(const RuleInput& input, const runtime::ServeArgument& one) {
  if (one.name != "quantization") return false;
  const std::string& method = input.report.question.model.quantization.method;
  return one.value == method || (!method.empty() && (method.starts_with(one.value) || one.value.starts_with(method)));
}

void unpriced_flags(const RuleInput& input, std::vector<Placed>& out) {
  for (const runtime::ServeArgument& one : input.deployment.arguments) {
    const runtime::EngineFlag* flag = input.flags.named(one.name);
    if (flag == nullptr || flag->unpriced.empty() || one.off || says_nothing_new(input, one)) continue;
    if (argument(input.deployment, one.name) != &one) continue;
    add_finding(out, "KVF024", format("--{}: {}, which kvfit does not compute", one.name, flag->unpriced),
                "hold the answer against a boot: kvfit calibrate", one.where);
  }
}

void idle_utilisation(const RuleInput& input, std::vector<Placed>& out) {
  const runtime::ServeArgument* share = argument(input.deployment, "gpu-memory-utilization");
  if (share == nullptr || argument(input.deployment, "kv-cache-memory-bytes") == nullptr) return;
  add_finding(out, "KVF026", "kv-cache-memory-bytes is stated: the utilisation does not size the cache",
              "keep one of the two", share->where);
}

}  // namespace

void deployment_rules(const RuleInput& input, std::vector<Placed>& out) {
  gpu_count(input, out);
  image_release(input, out);
  unpriced_flags(input, out);
  idle_utilisation(input, out);
}

}  // namespace kvfit::cli
