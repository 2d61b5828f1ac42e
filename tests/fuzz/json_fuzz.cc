#include <cstddef>
#include <cstdint>
#include <string>

#include "profiles/document.h"
#include "tests/fuzz/document_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  return kvfit::fuzz::check([&text] { return kvfit::profiles::parse_json(text, "input.json"); });
}
