// What starts the parts of a job on engines that people already run. kvfit links none of them: each gets a text.
#pragma once

#include <string>

#include "carve/job.h"

namespace kvfit::carve {

struct LaunchOptions {
  std::string program = "kvfit";  ///< how the engine calls kvfit
  std::string job_file;           ///< path of the job, as the parts see it
  int at_once = 4;                ///< parts that run side by side: by disks, not by cores
  std::string image;              ///< container image; kubernetes only
  std::string claim;              ///< PersistentVolumeClaim (ReadWriteMany) that holds source, job and destination
  std::string mount = "/data";    ///< where the claim is mounted
};

/// A shell script for one machine: GNU parallel, failed parts again on the next start, then the merge.
std::string parallel_script(const Job& job, const LaunchOptions& options);
/// A shell script that submits an array job and a merge that waits for it (Slurm).
std::string slurm_script(const Job& job, const LaunchOptions& options);
/// Two Jobs: an Indexed Job for the parts, and one for the merge, whose pod waits until all parts have receipts.
std::string kubernetes_manifest(const Job& job, const LaunchOptions& options);

}  // namespace kvfit::carve
