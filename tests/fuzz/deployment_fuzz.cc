// A file of any kind (its first byte says which) is deployments or an Error about the input; their flags are settings or an
// Error; a call can be written and read again.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "profiles/catalog.h"
#include "runtime/deployment_file.h"
#include "runtime/deployment_serving.h"
#include "tests/fuzz/document_fuzz.h"

namespace {

using namespace kvfit;

const runtime::FlagTable& flags() {
  static const runtime::FlagTable table = [] {
    const profiles::Catalog catalog;
    return runtime::FlagTable(catalog.load(catalog.resolve("flags", "vllm")));
  }();
  return table;
}

std::string name_of(std::uint8_t kind) {
  constexpr const char* kNames[] = {"a.yaml", "a.sh", "a.service", "a.container", "a.json", "<stdin>"};
  return kNames[kind % 6];
}

void understand(const runtime::Deployment& deployment) {
  try {
    std::optional<runtime::Stated> draft;
    (void)runtime::serving_of(deployment, draft);
  } catch (const profiles::Error& error) {
    fuzz::require(error.fault() == profiles::Fault::input && !error.where().file.empty());
  }
  (void)runtime::shell_text(runtime::serve_command(deployment));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const runtime::FileReader read = [&text](const std::string&) { return std::optional<std::string>(text.substr(0, 200)); };
  try {
    for (const runtime::ServeCall& call : runtime::find_calls(text, name_of(data[0]), {.flags = &flags(), .read = read})) {
      understand(runtime::read_call(
          call, {.flags = &flags(), .engine_version = std::nullopt, .default_version = "0.24", .read = read}));
    }
  } catch (const profiles::Error& error) {
    fuzz::require(error.fault() == profiles::Fault::input);
    fuzz::require(error.text().starts_with("error: "));
  }
  return 0;
}
