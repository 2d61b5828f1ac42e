// A table of flags from a user's profile directory: read, or an Error; any spelling can be looked up.
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/flag_table.h"
#include "tests/fuzz/document_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kvfit;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const runtime::FlagTable table(profiles::parse_yaml(text, "vllm.yaml"));
    (void)table.find(text.substr(0, 40), planner::parse_version("0.24"));
    (void)table.find("--" + text.substr(0, 40), {});
  } catch (const profiles::Error& error) {
    fuzz::require(error.fault() == profiles::Fault::input);
  }
  return 0;
}
