// Compares a carved checkpoint with what a plan says it must be: always the headers, sizes and texts; each tensor's bytes
// with the hash that carve_manifest.json states; on request every byte with the source.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "carve/carve_plan.h"

namespace kvfit::carve {

struct VerifyOptions {
  bool hashes = true;                               ///< those that the manifest states; reads the output
  bool full = false;                                ///< reads the source's kept bytes and the output
  std::function<void(std::int64_t)> progress = {};  ///< bytes compared so far; may throw to stop
};

struct VerifyReport {
  std::vector<std::string> wrong;  ///< what differs, one sentence each
  std::int64_t hashed = 0;         ///< tensors whose hashes were compared
};

/// Of each output by its name; files without hashes are left out.
using StatedHashes = std::map<std::string, std::vector<TensorHash>>;

VerifyReport verify_files(const CarvePlan& plan, const std::string& directory, const StatedHashes& stated,
                          const VerifyOptions& options);

/// A finished carve: kept experts and options come from its carve_manifest.json. Error when there is none, or it was made
/// from another source.
VerifyReport verify_carve(const std::string& source, const std::string& destination, const VerifyOptions& options);

/// A finished carve by its manifest alone, where the source is gone: sizes, headers, texts and hashes. Error when it states
/// no hashes.
VerifyReport verify_alone(const std::string& destination, const std::function<void(std::int64_t)>& progress);

}  // namespace kvfit::carve
