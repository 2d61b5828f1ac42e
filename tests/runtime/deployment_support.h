// Deployments from text, and canonical lines of them, for the readers' tests.
#pragma once

#include <string>
#include <vector>

#include "profiles/catalog.h"
#include "profiles/error.h"
#include "runtime/deployment_file.h"

namespace kvfit::tests {

inline const runtime::FlagTable& vllm_flags() {
  static const runtime::FlagTable flags = [] {
    const profiles::Catalog catalog;
    return runtime::FlagTable(catalog.load(catalog.resolve("flags", "vllm")));
  }();
  return flags;
}

/// Every deployment in the text; `version` where the image does not say.
inline std::vector<runtime::Deployment> deployments(const std::string& text, const std::string& file,
                                                    const std::string& version = "0.24",
                                                    const runtime::FileReader& read = {}) {
  std::vector<runtime::Deployment> out;
  for (const runtime::ServeCall& call : runtime::find_calls(text, file, {.flags = &vllm_flags(), .read = read})) {
    out.push_back(
        runtime::read_call(call, {.flags = &vllm_flags(), .engine_version = {}, .default_version = version, .read = read}));
  }
  return out;
}

/// "MODEL --flag=value --switch --no-other | VARIABLE=value | image | gpus".
inline std::string line(const runtime::Deployment& one) {
  std::string out = one.model ? one.model->text : "(no model)";
  for (const runtime::ServeArgument& argument : one.arguments) {
    out += (argument.off ? " --no-" : " --") + argument.name;
    if (!argument.value.empty()) out += "=" + argument.value;
  }
  for (const runtime::EnvironmentVariable& variable : one.environment) out += " | " + variable.name + "=" + variable.value;
  if (one.image) out += " | " + one.image->text;
  if (one.gpus.count) out += " | " + std::to_string(*one.gpus.count) + " GPUs";
  if (one.gpus.product) out += " | " + one.gpus.product->text;
  return out;
}

inline std::string remarks(const runtime::Deployment& one) {
  std::string out;
  for (const runtime::Remark& remark : one.remarks) {
    out += std::to_string(remark.where.line) + ":" + std::to_string(remark.where.column) + " " + remark.text + "\n";
  }
  return out;
}

inline std::string complaint(const std::string& text, const std::string& file) {
  try {
    (void)deployments(text, file);
  } catch (const profiles::Error& error) {
    return error.text();
  }
  return "no error";
}

}  // namespace kvfit::tests
