// kvfit.yaml, and a baseline: settings, or an Error about the input.
#include <cstddef>
#include <cstdint>
#include <string>

#include "cli/check_policy.h"
#include "cli/project_config.h"
#include "tests/fuzz/document_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kvfit;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    if (text.starts_with('{')) {
      cli::CheckRun run;
      cli::apply_baseline(text, "old.json", run);
    } else {
      const cli::ProjectConfig config = cli::read_project_config(profiles::parse_yaml(text, "kvfit.yaml"));
      for (const cli::PathSettings& one : config.deployments) (void)cli::matches(one.path, "deploy/a/b/c.yaml");
      cli::CheckRun run;
      cli::apply_allowances(config, "2026-11-30", run);
    }
  } catch (const profiles::Error& error) {
    fuzz::require(error.fault() == profiles::Fault::input);
    fuzz::require(error.text().starts_with("error: "));
  }
  return 0;
}
