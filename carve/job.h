// A carve cut into parts that any batch system can run side by side: each part writes whole output files, so no two write
// one. A part leaves a receipt, which makes running it again a no-op; merging needs all receipts and publishes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "carve/run.h"
#include "profiles/document.h"

namespace kvfit::carve {

struct Job {
  Request request;  ///< with the source's path
  std::string destination;
  std::string version;  ///< kvfit's that made it; another one may not run it
  profiles::Json record;
  std::vector<std::vector<std::string>> parts;  ///< names of the output files of each
};

/// Scores and chooses; files are dealt to at most `parts` parts, the largest first to the part with least bytes.
Job make_job(const Request& request, const std::string& destination, int parts, std::string_view version,
             const std::function<void(std::int64_t)>& score_progress);

std::string job_text(const Job& job);
/// Error (Fault::input) with the place of what is wrong.
Job read_job(const profiles::Node& node);

/// Writes part `part` (from 0) into the working directory and its receipt. A part with a valid receipt is left alone.
/// Error when the source is no longer what the job was made from, or another kvfit made the job.
RunReport run_part(const Job& job, std::size_t part, const RunOptions& options);

/// Error naming the parts without a valid receipt; else finishes and publishes.
RunReport merge_job(const Job& job, const RunOptions& options);

/// "3/8" -> 3, of a job of 8 parts; "auto" takes the number from the first of KVFIT_PART, SLURM_ARRAY_TASK_ID,
/// JOB_COMPLETION_INDEX, OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID that is set.
std::size_t part_number(std::string_view text, std::size_t parts,
                        const std::function<std::optional<std::string>(std::string_view)>& environment);

}  // namespace kvfit::carve
