#include "carve/launch.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "carve/json_spans.h"
#include "profiles/spelling.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

using profiles::format;

std::string head(const Job& job) {
  return format("#!/bin/sh\n# Carves {} into {}: {} parts, then the merge. Written by kvfit carve launch.\nset -eu\n\n",
                job.request.source.find('\n') == std::string::npos ? job.request.source : "a checkpoint",
                job.destination.find('\n') == std::string::npos ? job.destination : "its destination", job.parts.size());
}

std::string pod(const LaunchOptions& options, const std::string& words, const std::string& indent) {
  std::string out;
  const auto line = [&](const std::string& text) { out += indent + text + "\n"; };
  line("restartPolicy: Never");
  line("containers:");
  line("  - name: carve");
  line(format("    image: {}", json_quoted(options.image)));
  line(format("    command: [{}, \"carve\", {}]", json_quoted(options.program), words));
  line("    resources:");
  line("      requests: {cpu: \"1\", memory: 256Mi}");
  line("      limits: {memory: 1Gi}");
  line("    volumeMounts:");
  line(format("      - {{name: data, mountPath: {}}}", json_quoted(options.mount)));
  line("volumes:");
  line("  - name: data");
  line(format("    persistentVolumeClaim: {{claimName: {}}}", json_quoted(options.claim)));
  return out;
}

}  // namespace

std::string parallel_script(const Job& job, const LaunchOptions& options) {
  const std::string file = profiles::single_quoted(options.job_file);
  return head(job) + format(
                         "job={}\nparallel --joblog \"$job.log\" --resume-failed --halt soon,fail=1 -j {} \\\n"
                         "  {} carve run --job \"$job\" --part '{{}}/{}' ::: $(seq 0 {})\n{} carve merge --job \"$job\"\n",
                         file, options.at_once, profiles::single_quoted(options.program), job.parts.size(),
                         job.parts.size() - 1, profiles::single_quoted(options.program));
}

std::string slurm_script(const Job& job, const LaunchOptions& options) {
  const std::string program = profiles::single_quoted(options.program);
  return head(job) + format(
                         "job={}\nparts=$(sbatch --parsable --job-name=kvfit-carve --array=0-{}%{} --ntasks=1 "
                         "--cpus-per-task=2 --mem=1G \\\n"
                         "  --wrap=\"{} carve run --job '$job' --part auto\")\n"
                         "sbatch --job-name=kvfit-merge --dependency=\"afterok:${{parts%%;*}}\" --ntasks=1 --mem=1G \\\n"
                         "  --wrap=\"{} carve merge --job '$job'\"\n",
                         profiles::single_quoted(options.job_file), job.parts.size() - 1, options.at_once, program, program);
}

std::string kubernetes_manifest(const Job& job, const LaunchOptions& options) {
  const std::string file = json_quoted(options.job_file);
  std::string out = format(
      "# {} parts side by side, then the merge. Written by kvfit carve launch; needs Kubernetes 1.33.\n", job.parts.size());
  out += format(
      "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: kvfit-carve\nspec:\n  completionMode: Indexed\n  completions: "
      "{}\n"
      "  parallelism: {}\n  backoffLimitPerIndex: 3\n  maxFailedIndexes: 0\n  template:\n    spec:\n",
      job.parts.size(), std::min<std::size_t>(static_cast<std::size_t>(options.at_once), job.parts.size()));
  out += pod(options, format("\"run\", \"--job\", {}, \"--part\", \"auto\"", file), "      ");
  // A merge before its time says which parts are missing and exits 2: the Job tries again, later each time.
  out +=
      "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: kvfit-carve-merge\nspec:\n  backoffLimit: 1000\n  "
      "template:\n    spec:\n";
  out += pod(options, format("\"merge\", \"--job\", {}", file), "      ");
  return out;
}

}  // namespace kvfit::carve
