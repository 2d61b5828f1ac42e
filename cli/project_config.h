// kvfit.yaml: what a repository says once, so that neither its files nor every command line must. The nearest one upward
// from the working directory holds.
//
//   gpu: rtx5090-32g            what --gpu, --gpus, --system, --engine-version, --margin and --fail-on would say,
//   fail_on: warning            where neither the command line nor the deployment does
//   deployments:                the same by path: the last entry that matches holds, before what stands above
//     - {path: "deploy/h100/*", gpu: h100-sxm, model: org/name}     model: where kvfit does not know the one named
//   allow:                      findings that do not count, with a reason; `until` is the last day
//     - {id: KVF007, path: "deploy/*.yaml", reason: "fp8 cache fails our evaluation", until: 2027-03-31}
//
// Paths are relative to the file; * stops at a slash, ** does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/document.h"
#include "profiles/units.h"

namespace kvfit::cli {

struct TargetSettings {
  std::optional<std::string> gpu, model, system, engine_version;
  std::optional<std::int64_t> gpus;
  std::optional<profiles::Bytes> used_elsewhere;
};

struct PathSettings {
  std::string path;  ///< pattern
  TargetSettings settings;
};

struct Allowance {
  std::string id;    ///< "KVF007"
  std::string path;  ///< pattern; "" = everywhere
  std::string reason;
  std::string until;  ///< "2027-03-31"; "" = for good
  profiles::Where where;
};

struct ProjectConfig {
  std::string file;  ///< "" = there is none
  TargetSettings settings;
  std::optional<std::string> margin, fail_on;
  std::vector<PathSettings> deployments;
  std::vector<Allowance> allow;
};

/// Throws Error with place on unknown keys, unknown finding ids, a missing reason, and dates that are none.
ProjectConfig read_project_config(const profiles::Node& root);

/// The nearest kvfit.yaml in `directory` or above; "" when there is none.
std::string find_project_config(const std::string& directory);

/// `path` as seen from the file's directory, for matching; unchanged when there is no file.
std::string path_from(const ProjectConfig& config, const std::string& path);

bool matches(std::string_view pattern, std::string_view path);

}  // namespace kvfit::cli
