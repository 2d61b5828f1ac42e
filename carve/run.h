// Writes a planned carve: shard by shard into DST.kvfit-tmp/, the small files last, checked against their headers, then
// published by one rename. What was finished before an interruption stays finished.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "carve/carve_plan.h"
#include "carve/working_directory.h"

namespace kvfit::carve {

struct Progress {
  std::string_view phase;            ///< "scoring", "writing", "checking"
  std::int64_t done = 0, total = 0;  ///< bytes
};

struct RunOptions {
  std::string destination;
  std::string version;      ///< kvfit's
  std::string timestamp;    ///< for the manifest; "" = none
  int threads = 0;          ///< 0 = as the machine has, 2 to 4
  std::int64_t memory = 0;  ///< most bytes resident; 0 = no cap
  bool direct = false;      ///< copies go around the page cache where the file system lets them
  bool share = true;        ///< share extents where the file system can
  bool must_share = false;  ///< Error where it cannot
  bool restart = false;     ///< wipe what an earlier run left
  bool hash = false;  ///< SHA-256 of every output file into the manifest, and hashes of tensors also where bytes were shared
  bool full_check = false;                             ///< compare every byte with the source before publishing
  std::function<void(const Progress&)> progress = {};  ///< may throw to stop: the directory stays resumable
};

struct RunReport {
  std::int64_t files = 0, bytes = 0;  ///< weights files of the output
  std::int64_t resumed = 0;           ///< files that an earlier run had finished
  std::int64_t shared_bytes = 0;      ///< shared with the source instead of written
  std::vector<std::string> findings;
};

RunReport run_carve(const Request& request, const RunOptions& options);

/// The pieces of run_carve(), for jobs. Writes those of `plan.outputs` whose index is in `which`.
void write_outputs(const CarvePlan& plan, const WorkingDirectory& directory, const std::vector<std::size_t>& which,
                   const RunOptions& options, RunReport& report);
/// Side files, texts, index, card, manifest; checks; publishes.
void finish_carve(const CarvePlan& plan, WorkingDirectory& directory, const RunOptions& options, RunReport& report);

}  // namespace kvfit::carve
