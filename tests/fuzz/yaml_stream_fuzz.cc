// A stream of documents with aliases and merged maps: bounded, or an Error.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/document_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  return kvfit::fuzz::check([&text] {
    std::vector<kvfit::profiles::Node> documents = kvfit::profiles::parse_yaml_stream(text, "input.yaml", 10'000);
    for (const kvfit::profiles::Node& one : documents) kvfit::fuzz::walk(one);
    return documents.front();
  });
}
