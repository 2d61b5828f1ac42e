// One deployment -> its answer: model, GPU and release found, the question asked, the rules applied.
#pragma once

#include <map>
#include <memory>
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
#include "runtime/serve_call.h"

namespace kvfit::cli {

class Answerer {
 public:
  /// Keeps references: all must outlive it.
  Answerer(const Args& args, const ProjectConfig& config, const profiles::Catalog& catalog, Environment environment);

  /// Never throws for what a deployment says: an Error about it becomes a finding KVF000.
  CheckCase answer(runtime::Deployment deployment, const std::string& file) const;
  /// kvfit's own serving flags as the deployment.
  CheckCase answer_flags() const;

  /// How a file's calls are to be read: for which release, and which image is the released one. The file reader is the
  /// caller's.
  runtime::CallContext context_for(const std::string& file) const;
  const runtime::FlagTable& flags() const { return flags_; }

 private:
  /// What kvfit.yaml says for a path: the last entry that matches.
  const TargetSettings* settings_for(const std::string& file) const;
  /// Fills assumptions, and findings where two who should agree do not.
  Asked asked(const std::string& file, CheckCase& out) const;
  std::optional<std::string> machine_of(const std::string& file, CheckCase& out) const;
  std::optional<std::string> release_of(const std::string& file, CheckCase& out) const;
  std::string model_of(const std::string& file, std::int64_t& experts, CheckCase& out) const;
  std::string model_name(const std::string& stated, const std::string& file, std::int64_t& experts,
                         std::vector<std::string>& assumptions) const;
  std::optional<std::string> gpu_of_label(const std::string& label) const;
  std::string gpu_id(const std::string& name) const;
  std::string model_id(const std::string& name) const;
  std::shared_ptr<const ThisGpu> this_gpu(const std::string& name) const;
  void price(const Asked& asked, CheckCase& out) const;

  const Args& args_;
  const ProjectConfig& config_;
  const profiles::Catalog& catalog_;
  Environment environment_;
  runtime::FlagTable flags_;
  std::string default_version_, released_image_;
  std::map<std::string, std::string, std::less<>> models_;  ///< names of the catalogue in small letters -> as it spells them
  std::map<std::string, std::string, std::less<>> gpus_;    ///< names of GPUs, dashes as blanks -> id
  mutable std::map<std::string, std::shared_ptr<const ThisGpu>, std::less<>> found_;  ///< "auto:1": looked for once
};

}  // namespace kvfit::cli
