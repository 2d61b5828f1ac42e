// Local corrections: what boots on this machine taught, kept in one JSON file and used by later plans of the same GPU,
// model, engine version and tensor parallel size. Nothing leaves the machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/correction.h"

namespace kvfit::runtime {

struct CorrectionKey {
  std::string gpu;             ///< profile id
  std::string model;           ///< catalogue id or directory name
  std::string engine;          ///< "vllm"
  std::string engine_version;  ///< "0.24.0"
  std::int64_t tensor_parallel_size = 1;
};

/// $XDG_DATA_HOME/kvfit/corrections.json, else ~/.local/share/kvfit/corrections.json; "" when neither variable is set.
std::string default_correction_file();

/// Those of the key; empty when the file does not exist. Throws Error with place when it cannot be read.
std::vector<planner::Correction> find_corrections(const std::string& path, const CorrectionKey& key);

/// Replaces those of the key and keeps all others; makes the folder when missing. The file appears whole or not at all.
void store_corrections(const std::string& path, const CorrectionKey& key,
                       const std::vector<planner::Correction>& corrections);

}  // namespace kvfit::runtime
