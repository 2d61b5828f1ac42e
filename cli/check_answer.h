// One deployment -> its answer: model, GPU and release found, the question asked, the rules applied.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/check_case.h"
#include "cli/project_config.h"
#include "cli/question_builder.h"
#include "cli/terminal.h"
#include "profiles/catalog.h"
#include "runtime/flag_table.h"

namespace kvfit::cli {

class Answerer {
 public:
  /// Keeps references: all must outlive it.
  Answerer(const Args& args, const ProjectConfig& config, const profiles::Catalog& catalog, Environment environment);

  /// Never throws for what a deployment says: an Error about it becomes a finding KVF000.
  CheckCase answer(runtime::Deployment deployment, const std::string& file) const;
  /// kvfit's own serving flags as the deployment.
  CheckCase answer_flags() const;

  /// Release the user or kvfit.yaml says for a file, before its image does.
  std::optional<std::string> stated_version(const std::string& file) const;
  std::string default_version() const { return default_version_; }
  const runtime::FlagTable& flags() const { return flags_; }

 private:
  /// What kvfit.yaml says for a path: the last entry that matches.
  const TargetSettings* settings_for(const std::string& file) const;
  Asked asked(const runtime::Deployment& deployment, const std::string& file, std::vector<std::string>& assumptions) const;
  std::string model_name(const std::string& stated, const std::string& file, std::int64_t& experts,
                         std::vector<std::string>& assumptions) const;
  std::optional<std::string> gpu_of_label(const std::string& label) const;
  void price(const Asked& asked, CheckCase& out) const;

  const Args& args_;
  const ProjectConfig& config_;
  const profiles::Catalog& catalog_;
  Environment environment_;
  runtime::FlagTable flags_;
  std::string default_version_;
  std::map<std::string, std::string, std::less<>> models_;  ///< names of the catalogue, small letters -> id
  std::map<std::string, std::string, std::less<>> gpus_;    ///< the same for GPUs, dashes as blanks
};

}  // namespace kvfit::cli
